package posix

import (
	"regexp"
	"slices"
	"strings"
)

// plain matches words that no shell reads as anything but themselves.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// reserved are the words that mean something where a command's name stands.
var reserved = []string{
	"case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
	"select", "then", "time", "until", "while",
}

// Join returns the words as one text which, pasted into a shell, gives the
// same words again.
func Join(argv []string) string {
	quoted := make([]string, len(argv))
	for i, w := range argv {
		quoted[i] = w
		// FOO=1 in front would be an assignment, and if in front a keyword
		first := i == 0 && (strings.Contains(w, "=") || slices.Contains(reserved, w))
		if first || !plain.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
