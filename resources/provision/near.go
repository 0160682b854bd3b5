package provision

import (
	"maps"
	"slices"

	"github.com/settle-cm/settle/model"
)

// nearest returns the word that someone who wrote key most probably meant, "" when none is near.
func nearest(key string, words []string) string {
	near, _ := model.Closest(key, words, model.Tolerance(key))
	return near
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
