package provision

import (
	"maps"
	"slices"
	"strings"
)

// nearest returns the word that someone who wrote key most probably meant, "" when none is near.
func nearest(key string, words []string) string {
	key = strings.ToLower(key)
	best, least := "", max(1, len(key)/3)+1
	for _, w := range words {
		if d := distance(key, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their
// neighbour to make one word of another.
func distance(a, b string) int {
	before, row, above := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
