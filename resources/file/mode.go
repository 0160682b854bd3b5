package file

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
)

// decodeMode reads a mode: three or four octal digits in quotes. YAML reads
// digits without quotes as a number, and its versions disagree on the base.
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
		b.Refuse("mode", fmt.Sprintf("symbolic mode %q", text), suggestOctal(text))
	default:
		b.Refuse("mode", fmt.Sprintf("%q is not a mode", text), `write three or four octal digits in quotes, as "0644"`)
	}
	return nil
}

// suggestOctal returns the suggestion how to write a symbolic mode in octal. It
// names the digits when the text determines all nine bits.
func suggestOctal(text string) string {
	const whole = `write the whole mode in octal, as "0644", or "0755" for what may be executed`
	if len(text) == 9 && !strings.ContainsAny(text, "=+,") { // as ls -l shows it
		if mode, ok := parseListing(text); ok {
			return fmt.Sprintf("write %q", fmt.Sprintf("%04o", mode))
		}
		return whole
	}
	var mode uint32
	seen := ""
	for clause := range strings.SplitSeq(text, ",") {
		classes, letters, ok := strings.Cut(clause, "=")
		if !ok {
			return whole
		}
		if classes == "" || strings.Contains(classes, "a") {
			classes = "ugo"
		}
		bits, ok := octalDigit(letters)
		if !ok || strings.Trim(classes, "ugo") != "" {
			return whole
		}
		for _, class := range classes {
			mode |= bits << map[rune]int{'u': 6, 'g': 3, 'o': 0}[class]
		}
		seen += classes
	}
	for _, class := range "ugo" {
		if !strings.ContainsRune(seen, class) {
			return whole
		}
	}
	return fmt.Sprintf("write %q", fmt.Sprintf("%04o", mode))
}

// octalDigit returns the octal digit of the letters r, w and x.
func octalDigit(letters string) (uint32, bool) {
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

// parseListing reads a mode as ls shows it: rw-r--r--.
func parseListing(text string) (uint32, bool) {
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
