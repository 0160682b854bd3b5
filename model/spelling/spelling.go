// Package spelling suggests the known word that is closest to a misspelled one.
package spelling

import "strings"

// Tolerance returns the edit distance from which on a candidate is too far from word.
func Tolerance(word string) int { return min(4, 1+len(word)/3) }

// Closest returns the first candidate with the smallest edit distance to word, and
// that distance. It returns "" and limit when every distance is limit or more. Case,
// spaces, hyphens and underscores do not count.
func Closest(word string, candidates []string, limit int) (string, int) {
	best := ""
	word = normalize(word)
	for _, c := range candidates {
		if d := distance(word, normalize(c), limit); d < limit {
			best, limit = c, d
		}
	}
	return best, limit
}

// Suggest returns the candidate closest to word, "" when all are too far from it.
func Suggest(word string, candidates []string) string {
	closest, _ := Closest(word, candidates, Tolerance(word))
	return closest
}

// normalize returns word in lower case without separators.
func normalize(word string) string { return separators.Replace(strings.ToLower(word)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// distance counts the letters inserted, deleted, changed or swapped with a neighbour
// between two words. It stops counting at limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var space [3 * 32]int // on the stack: most words fit
	rows := space[:]
	if 3*(len(b)+1) > len(rows) {
		rows = make([]int, 3*(len(b)+1))
	}
	before, row, next := rows[:len(b)+1], rows[len(b)+1:2*(len(b)+1)], rows[2*(len(b)+1):3*(len(b)+1)]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		least := next[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
			least = min(least, next[j+1])
		}
		if least >= limit {
			return limit
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
