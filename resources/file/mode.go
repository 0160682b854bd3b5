package file

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
)

// decodeMode reads a mode: three or four octal digits, in quotes, since YAML
// makes numbers of them and people disagree which.
func decodeMode(b *model.Body) *uint32 {
	v, ok := b.Values["mode"]
	if !ok {
		return nil
	}
	text := v.Text
	mode, err := strconv.ParseUint(text, 8, 32)
	octal := err == nil && (len(text) == 3 || len(text) == 4)
	switch {
	case octal && v.Quoted:
		m := uint32(mode)
		return &m
	case octal:
		b.Refuse("mode", "mode "+text+" is a number to YAML", fmt.Sprintf("quote it: %q", fmt.Sprintf("%04o", mode)))
	case strings.ContainsAny(text, "+-=,") || strings.ContainsAny(text, "rwxX"):
		b.Refuse("mode", fmt.Sprintf("symbolic mode %q", text), octalFor(text))
	default:
		b.Refuse("mode", fmt.Sprintf("%q is not a mode", text), `write three or four octal digits in quotes, as "0644"`)
	}
	return nil
}

// octalFor says how to write a symbolic mode in octal: the digits, where the
// clauses say all there is to know.
func octalFor(text string) string {
	const whole = `write the whole mode in octal, as "0644", or "0755" for what may be executed`
	if len(text) == 9 && !strings.ContainsAny(text, "=+,") { // as ls -l shows it
		if mode, ok := listed(text); ok {
			return fmt.Sprintf("write %q", fmt.Sprintf("%04o", mode))
		}
		return whole
	}
	var mode uint32
	said := ""
	for clause := range strings.SplitSeq(text, ",") {
		who, what, ok := strings.Cut(clause, "=")
		if !ok {
			return whole
		}
		if who == "" || strings.Contains(who, "a") {
			who = "ugo"
		}
		bits, ok := digit(what)
		if !ok || strings.Trim(who, "ugo") != "" {
			return whole
		}
		for _, class := range who {
			mode |= bits << map[rune]int{'u': 6, 'g': 3, 'o': 0}[class]
		}
		said += who
	}
	for _, class := range "ugo" {
		if !strings.ContainsRune(said, class) {
			return whole
		}
	}
	return fmt.Sprintf("write %q", fmt.Sprintf("%04o", mode))
}

// digit is the octal digit of a clause's letters.
func digit(letters string) (uint32, bool) {
	var bits uint32
	for _, c := range letters {
		i := strings.IndexRune("xwr", c)
		if i < 0 {
			return 0, false
		}
		bits |= 1 << i
	}
	return bits, true
}

// listed reads rw-r--r--.
func listed(text string) (uint32, bool) {
	var mode uint32
	for i, c := range text {
		mode <<= 1
		switch {
		case byte(c) == "rwx"[i%3]:
			mode |= 1
		case c != '-':
			return 0, false
		}
	}
	return mode, true
}
