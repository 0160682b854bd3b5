package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// labels are the values of apply --label, each KEY=VALUE.
type labels []string

// maxLabel bounds the text of one label, in bytes: the journal is read in every run.
const maxLabel = 256

var labelKey = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// loadListed returns an error for the first label that is not KEY=VALUE or repeats a key.
func (l labels) check() error {
	seen := map[string]bool{}
	for _, label := range l {
		key, value, ok := strings.Cut(label, "=")
		switch {
		case !ok || !labelKey.MatchString(key):
			return fmt.Errorf("--label takes KEY=VALUE such as commit=3f2a1c0, not %q", label)
		case len(label) > maxLabel:
			return fmt.Errorf("--label %s: the label is longer than %d bytes", key, maxLabel)
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			return fmt.Errorf("--label %s: the value is not one line of plain text", key)
		case seen[key]:
			return fmt.Errorf("--label %s is given twice", key)
		}
		seen[key] = true
	}
	return nil
}

// byKey returns the labels as a map, nil without any.
func (l labels) byKey() map[string]string {
	if len(l) == 0 {
		return nil
	}
	values := make(map[string]string, len(l))
	for _, label := range l {
		key, value, _ := strings.Cut(label, "=") // check has seen it
		values[key] = value
	}
	return values
}
