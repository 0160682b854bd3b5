package model

import "strings"

// Tolerance is how many slips are too many for a word.
func Tolerance(word string) int { return min(4, 1+len(word)/3) }

// Closest returns the candidate with the fewest slips, fewer than limit, and
// their number; the first of several.
func Closest(word string, candidates []string, limit int) (string, int) {
	best := ""
	word = bare(word)
	for _, c := range candidates {
		if d := slips(word, bare(c), limit); d < limit {
			best, limit = c, d
		}
	}
	return best, limit
}

// Near returns the candidate that a word was most probably meant to be, "" when
// none is close to it.
func Near(word string, candidates []string) string {
	meant, _ := Closest(word, candidates, Tolerance(word))
	return meant
}

// bare is a word in lower case without the marks that people put between its parts.
func bare(word string) string { return marks.Replace(strings.ToLower(word)) }

var marks = strings.NewReplacer("_", "", "-", "", " ", "")

// slips counts the letters that were added, left out, changed or exchanged
// with their neighbours between two words; it gives up at limit.
func slips(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var space [3 * 32]int // enough for most words without a trip to the heap
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
