package posix

import (
	"slices"
	"strings"
)

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
		if first || !isPlain(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plain says whether no shell reads a word as anything but itself.
func isPlain(word string) bool {
	for i := range len(word) {
		c := word[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && !strings.ContainsRune("_@%+=:,./-", rune(c)) {
			return false
		}
	}
	return word != ""
}
