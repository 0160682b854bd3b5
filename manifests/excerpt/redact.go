package excerpt

import (
	"strconv"
	"strings"
)

// RedactCut redacts the beginning of a secret before an ellipsis. A redactor only
// recognises whole secrets, and long texts are shortened in messages.
func RedactCut(text string, secrets []string) string {
	const ellipsis, stars = "…", "***"
	for from := 0; ; {
		at := strings.Index(text[from:], ellipsis)
		if at < 0 {
			return text
		}
		at += from
		if n := countBeginning(text[:at], secrets); n > 0 {
			text = text[:at-n] + stars + text[at:]
			at += len(stars) - n
		}
		from = at + len(ellipsis)
	}
}

// countBeginning returns how many bytes at the end of a text are the beginning of
// a secret. Fewer than four do not count: they reveal little, and may be anything.
func countBeginning(text string, secrets []string) int {
	const least = 4
	most := 0
	for _, whole := range secrets {
		whole = strings.TrimSpace(whole)
		quoted := strconv.Quote(whole)
		for _, spelled := range []string{whole, quoted[1 : len(quoted)-1]} {
			for n := min(len(spelled), len(text)); n >= max(least, most+1); n-- {
				if strings.HasSuffix(text, spelled[:n]) {
					most = n
				}
			}
		}
	}
	return most
}
