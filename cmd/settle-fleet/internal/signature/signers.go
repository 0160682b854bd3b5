package signature

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// Signers are the lines of an allowed_signers file that have ed25519 keys.
type Signers struct{ lines []signer }

type signer struct {
	principals    string
	key           []byte
	namespaces    []string // patterns; empty allows all
	after, before time.Time
}

// ParseSigners reads an OpenSSH allowed_signers file. Lines with keys of other
// types are skipped. Every broken line is reported, as `line N: cause`.
func ParseSigners(text []byte) (*Signers, error) {
	s := &Signers{}
	var problems []error
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one, err := parseSigner(line)
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", number, err))
		} else if one.key != nil {
			s.lines = append(s.lines, one)
		}
	}
	return s, errors.Join(problems...)
}

func parseSigner(line string) (signer, error) {
	fields, err := splitFields(line)
	if err != nil {
		return signer{}, err
	}
	if len(fields) < 3 {
		return signer{}, errors.New("write PRINCIPALS [OPTIONS] KEYTYPE KEY")
	}
	one := signer{principals: fields[0]}
	if strings.ContainsAny(one.principals, "\"!") {
		return signer{}, errors.New("a principal must not contain quotes or exclamation marks")
	}
	rest := fields[1:]
	if !isKeyType(rest[0]) {
		if err := one.parseOptions(rest[0]); err != nil {
			return signer{}, err
		}
		rest = rest[1:]
	}
	if len(rest) < 2 || !isKeyType(rest[0]) {
		return signer{}, errors.New("write PRINCIPALS [OPTIONS] KEYTYPE KEY")
	}
	if rest[0] != keyType {
		return signer{}, nil
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(rest[1])
	if err != nil {
		return signer{}, errors.New("the key is not valid base64")
	}
	if public, err := typed(blob, "key"); err != nil || len(public) != 32 {
		return signer{}, errors.New("the key is not an ed25519 key")
	}
	one.key = blob
	return one, nil
}

func isKeyType(field string) bool {
	for _, prefix := range []string{"ssh-", "ecdsa-", "sk-"} {
		if strings.HasPrefix(field, prefix) {
			return true
		}
	}
	return false
}

// splitFields splits at blanks outside of double quotes and keeps the quotes.
func splitFields(line string) ([]string, error) {
	var fields []string
	var field strings.Builder
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if (c == ' ' || c == '\t') && !quoted {
			if field.Len() > 0 {
				fields = append(fields, field.String())
				field.Reset()
			}
			continue
		}
		field.WriteRune(c)
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if field.Len() > 0 {
		fields = append(fields, field.String())
	}
	return fields, nil
}

func (s *signer) parseOptions(text string) error {
	for text != "" {
		var name, value string
		if at := strings.IndexAny(text, "=,"); at >= 0 && text[at] == '=' {
			name = text[:at]
			quoted, ok := strings.CutPrefix(text[at+1:], `"`)
			closing := strings.IndexByte(quoted, '"')
			if !ok || closing < 0 {
				return fmt.Errorf("the value of option %s is not in quotes", name)
			}
			value, text = quoted[:closing], quoted[closing+1:]
		} else {
			name, _, _ = strings.Cut(text, ",")
			text = text[len(name):]
		}
		if text != "" {
			if text[0] != ',' || len(text) == 1 {
				return errors.New("options are separated by one comma")
			}
			text = text[1:]
		}
		if err := s.setOption(strings.ToLower(name), value); err != nil {
			return err
		}
	}
	return nil
}

func (s *signer) setOption(name, value string) (err error) {
	switch name {
	case "namespaces":
		if s.namespaces != nil || value == "" {
			return errors.New("option namespaces is given twice or empty")
		}
		s.namespaces = strings.Split(value, ",")
		for _, pattern := range s.namespaces {
			if strings.ContainsAny(pattern, `![]\`) {
				return fmt.Errorf("the namespace pattern %q is not supported: use letters, * and ?", pattern)
			}
		}
	case "valid-after":
		s.after, err = parseTime(value)
	case "valid-before":
		s.before, err = parseTime(value)
	case "cert-authority":
		return errors.New("cert-authority is not supported: list the keys themselves")
	default:
		return fmt.Errorf("the option %q is unknown", name)
	}
	return err
}

// parseTime reads YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, with Z for UTC.
// Without it the time is local, as in OpenSSH.
func parseTime(text string) (time.Time, error) {
	zone := time.Local
	digits, utc := strings.CutSuffix(text, "Z")
	if utc {
		zone = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(digits) == len(layout) {
			if t, err := time.ParseInLocation(layout, digits, zone); err == nil {
				return t, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("the time %q is not like 20270131 or 202701312359Z", text)
}

// find returns the principals of the line that allows a key to sign in a
// namespace at the time now.
func (s *Signers) find(key []byte, namespace string, now time.Time) (string, error) {
	reason := errors.New("the signing key is not in allowed_signers")
	for _, line := range s.lines {
		switch {
		case !bytes.Equal(line.key, key):
		case !line.allows(namespace):
			reason = fmt.Errorf("%s may not sign in namespace %s", line.principals, namespace)
		case !line.after.IsZero() && now.Before(line.after):
			reason = fmt.Errorf("the key of %s is not valid before %s", line.principals, line.after.Format(time.RFC3339))
		case !line.before.IsZero() && !now.Before(line.before):
			reason = fmt.Errorf("the key of %s is not valid after %s", line.principals, line.before.Format(time.RFC3339))
		default:
			return line.principals, nil
		}
	}
	return "", reason
}

func (s *signer) allows(namespace string) bool {
	if s.namespaces == nil {
		return true
	}
	for _, pattern := range s.namespaces {
		if ok, err := path.Match(pattern, namespace); ok && err == nil {
			return true
		}
	}
	return false
}
