// Package release holds the two signed texts of a fleet, the release and the
// rollout, and the rules by which a machine accepts one. It does no IO.
package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Namespaces and schemas of the signed texts.
const (
	Namespace        = "settle-release@v1"
	RolloutNamespace = "settle-rollout@v1"
	Schema           = "settle.release/v1"
	RolloutSchema    = "settle.rollout/v1"
)

// MaxText bounds a signed text, in bytes.
const MaxText = 64 << 10

// Signed is a text and the signatures that stand on it, as a key of the NATS
// bucket holds it and as the files of a directory are read.
type Signed struct {
	Text       string   `json:"text"`
	Signatures []string `json:"signatures"`
}

// Release is a signed statement: this version of this name is this bundle.
type Release struct {
	Schema      string    `json:"schema"`
	Fleet       string    `json:"fleet"`
	Name        string    `json:"name"`
	Version     int64     `json:"version"`
	Digest      string    `json:"digest"` // sha256: and 64 hex digits
	Size        int64     `json:"size"`   // bytes of the bundle
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
	MayRevertTo int64     `json:"may_revert_to,omitempty"`
	Notes       string    `json:"notes,omitempty"`
	Settle      string    `json:"settle,omitempty"` // ">=1.2.3": the oldest settle that can apply it
}

var (
	nameForm    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	machineForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	digestForm  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// CheckName refuses what cannot be the name of a fleet or of a release.
func CheckName(what, name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%s %q: use up to 64 letters, digits, - and _", what, name)
	}
	return nil
}

// CheckMachine refuses what cannot be the name of a machine.
func CheckMachine(name string) error {
	if len(name) > 253 || !machineForm.MatchString(name) {
		return fmt.Errorf("machine %q: use letters, digits, - and _, with single dots between them", name)
	}
	return nil
}

// String returns NAME@VERSION.
func (r *Release) String() string { return fmt.Sprintf("%s@%d", r.Name, r.Version) }

// Hex returns the digest of the bundle without its prefix.
func (r *Release) Hex() string { return strings.TrimPrefix(r.Digest, "sha256:") }

// Expired reports whether the release must not be taken up any more at now.
func (r *Release) Expired(now time.Time) bool { return !now.Before(r.Expires) }

// Encode returns the text that is signed.
func (r *Release) Encode() []byte { return encode(r) }

// Parse reads the text of a release and checks its form.
func Parse(text []byte) (*Release, error) {
	var r Release
	if err := decode(text, &r, Schema); err != nil {
		return nil, fmt.Errorf("read release: %w", err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("read release: %w", err)
	}
	return &r, nil
}

func (r *Release) check() error {
	if _, err := MinimumSettle(r.Settle); err != nil {
		return err
	}
	switch {
	case CheckName("fleet", r.Fleet) != nil:
		return CheckName("fleet", r.Fleet)
	case CheckName("name", r.Name) != nil:
		return CheckName("name", r.Name)
	case r.Version < 1:
		return fmt.Errorf("version %d: versions begin with 1", r.Version)
	case !digestForm.MatchString(r.Digest):
		return fmt.Errorf("digest %q is not sha256: and 64 hex digits", r.Digest)
	case r.Size < 1:
		return fmt.Errorf("size %d is not a number of bytes", r.Size)
	case r.Expires.IsZero():
		return errors.New("it does not say when it expires")
	case r.MayRevertTo < 0 || r.MayRevertTo >= r.Version:
		return fmt.Errorf("may_revert_to %d is not an older version", r.MayRevertTo)
	}
	return nil
}

// MinimumSettle reads the key settle of a release, such as ">=0.3" or "". It
// returns the three numbers of the version.
func MinimumSettle(text string) ([3]int, error) {
	if text == "" {
		return [3]int{}, nil
	}
	number, ok := strings.CutPrefix(text, ">=")
	version, err := parseVersion(number)
	if !ok || err != nil {
		return version, fmt.Errorf("settle %q: write a minimum such as >=0.3", text)
	}
	return version, nil
}

// SatisfiesSettle reports whether the version of settle is at least a minimum.
// What follows the three numbers, such as -rc1, does not count.
func SatisfiesSettle(version string, minimum [3]int) bool {
	number, _, _ := strings.Cut(version, "-")
	have, err := parseVersion(number)
	if err != nil {
		return false
	}
	for i := range have {
		if have[i] != minimum[i] {
			return have[i] > minimum[i]
		}
	}
	return true
}

func parseVersion(text string) (version [3]int, err error) {
	parts := strings.Split(text, ".")
	if len(parts) > 3 {
		return version, errors.New("more than three numbers")
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return version, err
		}
		version[i] = int(n)
	}
	return version, nil
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts, numbers and times only
	}
	return append(text, '\n')
}

// decode reads a JSON object strictly: a key that this program does not know
// could change the meaning of the others.
func decode(text []byte, into any, schema string) error {
	if len(text) > MaxText {
		return fmt.Errorf("it is longer than %d bytes", MaxText)
	}
	var form struct{ Schema string }
	if err := json.Unmarshal(text, &form); err != nil {
		return errors.New("it is not a JSON object")
	}
	if form.Schema != schema {
		return fmt.Errorf("its schema is %q, not %s", form.Schema, schema)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: a newer settle-fleet may understand it", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text follows the JSON object")
	}
	return nil
}
