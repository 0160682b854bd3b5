package release

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Selector chooses machines by name and label. All of its terms have to match;
// without terms it chooses every machine.
type Selector struct{ terms []term }

type term struct {
	negated    bool
	key, value string // key "" compares the name; value may contain *
}

var termForm = regexp.MustCompile(`^!?([A-Za-z0-9_.*-]+|[A-Za-z0-9_.-]+=[A-Za-z0-9_.*:/-]*)$`)

// ParseSelector reads terms that are joined by commas: NAME, NAME*, KEY=VALUE,
// each with an optional ! before it.
func ParseSelector(text string) (Selector, error) {
	var s Selector
	if text == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if !termForm.MatchString(part) {
			return s, fmt.Errorf("selector %q: write NAME, NAME* or LABEL=VALUE, joined by commas, with ! for not", text)
		}
		rest, negated := strings.CutPrefix(part, "!")
		t := term{negated: negated, value: rest}
		if key, value, ok := strings.Cut(rest, "="); ok {
			t.key, t.value = key, value
		}
		s.terms = append(s.terms, t)
	}
	return s, nil
}

// Matches reports whether the selector chooses a machine.
func (s Selector) Matches(machine string, labels map[string]string) bool {
	for _, t := range s.terms {
		subject, known := machine, true
		if t.key != "" {
			subject, known = labels[t.key]
		}
		ok, _ := path.Match(t.value, subject) // the form of a term has no brackets
		if (known && ok) == t.negated {
			return false
		}
	}
	return true
}

var (
	labelKey   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	labelValue = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)
)

// IsLabel reports whether a selector can name the label.
func IsLabel(key, value string) bool {
	return labelKey.MatchString(key) && labelValue.MatchString(value)
}
