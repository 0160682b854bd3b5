// Package ccm evaluates the expressions of manifests that are written for CCM: it
// finds ${ … } and {{ … }} in texts, evaluates them over data, facts and the
// environment, and follows the paths of lookup(). It does no IO.
package ccm

import "strings"

// Match is an expression in a text.
type Match struct {
	Start, End int    // offsets of the expression with its braces
	Code       string // between the braces, without spaces around it
}

// Find returns the expressions of a text in order. An opening brace without its
// closing one is plain text.
func Find(text string) []Match {
	var all []Match
	for at := 0; at+1 < len(text); {
		double := strings.HasPrefix(text[at:], "{{")
		single := strings.HasPrefix(text[at:], "${") && !strings.HasPrefix(text[at:], "${{")
		if !double && !single {
			at++
			continue
		}
		end := findEnd(text[at+2:], double)
		if end < 0 {
			at += 2
			continue
		}
		braces := 1
		if double {
			braces = 2
		}
		code := text[at+2 : at+2+end]
		all = append(all, Match{at, at + 2 + end + braces, strings.TrimSpace(code)})
		at += 2 + end + braces
	}
	return all
}

// Has reports whether a text has an expression.
func Has(text string) bool {
	return strings.Contains(text, "{") && len(Find(text)) > 0
}

// findEnd returns the offset of the braces that end an expression, -1 for none.
// Braces in quotes do not count. double says that two braces end it.
func findEnd(text string, double bool) int {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"' || c == '\'' || c == '`':
			length := quotedLength(text[at:])
			if length < 0 {
				return -1
			}
			at += length - 1
		case double && strings.HasPrefix(text[at:], "}}"):
			return at
		case double:
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return at
		case c == '}':
			depth--
		}
	}
	return -1
}

// quotedLength returns the length of the quoted text at the start of a text, -1 when
// it has no end. A backslash escapes the next byte, except between backquotes.
func quotedLength(text string) int {
	for at := 1; at < len(text); at++ {
		switch {
		case text[at] == text[0]:
			return at + 1
		case text[at] == '\\' && text[0] != '`':
			at++
		}
	}
	return -1
}
