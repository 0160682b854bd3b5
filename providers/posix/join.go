package posix

import (
	"slices"
	"strings"
)

// reserved are the keywords of a shell in command position.
var reserved = []string{
	"case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
	"select", "then", "time", "until", "while",
}

// Join returns one text that a shell splits into the same words again.
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

// isPlain reports whether every shell reads a word as itself.
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
