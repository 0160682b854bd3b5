package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SavedSchema names the form of a saved plan.
const SavedSchema = "settle.plan/v1"

// Saved is a plan kept for a later apply: what was decided, and everything the
// decisions rest on. It holds no text of a command and no value of a variable. Its
// sums are keyed: a short secret could be found by trying all values of a plain one.
type Saved struct {
	Schema    string          `json:"schema"`
	Version   string          `json:"version"` // settle's
	Created   time.Time       `json:"created"`
	Manifest  string          `json:"manifest"` // as given, for people
	Hash      string          `json:"hash"`     // keyed sum of its bytes and values
	Text      string          `json:"text"`     // keyed sum of its bytes
	Identity  string          `json:"identity"`
	Position  string          `json:"position"` // of the journal: every apply moves it, so a plan serves once
	Selection Selection       `json:"selection"`
	Decisions []SavedDecision `json:"decisions"`
}

// SavedDecision is what a plan said of one resource.
type SavedDecision struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Diff   string `json:"diff,omitempty"` // a keyed sum of the shown diff: that, and nothing else, was agreed to
}

// KeyedSum returns the sum of a text under the key of the state directory.
type KeyedSum func(text string) string

// of returns the sum of a text, "" for none.
func (k KeyedSum) of(text string) string {
	if text == "" {
		return ""
	}
	return k(text)
}

// Save makes a plan to keep from the results of a preview.
func Save(m *Manifest, position string, selection Selection, results []Result, sum KeyedSum) Saved {
	s := Saved{Schema: SavedSchema, Manifest: m.Path, Hash: sum(m.Hash), Text: sum(m.TextHash), Identity: m.Identity, Position: position, Selection: selection}
	for i := range results {
		s.Decisions = append(s.Decisions, SavedDecision{results[i].ID, results[i].Status, sum.of(results[i].DiffSum)})
	}
	return s
}

// ShowedDiff reports whether the plan showed the diff with this sum.
func (d SavedDecision) ShowedDiff(diffSum string, sum KeyedSum) bool {
	return d.Diff == sum.of(diffSum)
}

// Differs says what the plan rests on that is no longer so, "" when all of it is.
func (s *Saved) Differs(m *Manifest, position string, selection Selection, sum KeyedSum) string {
	var what []string
	switch {
	case s.Hash == sum(m.Hash):
	case s.Text == sum(m.TextHash):
		what = append(what, "its values are not those that were planned: give the same --var, --var-file, --fact, --facts-file and environment")
	default:
		what = append(what, "the manifest is not the one that was planned")
	}
	if s.Identity != m.Identity {
		what = append(what, fmt.Sprintf("it was made for %q, this is %q", s.Identity, m.Identity))
	}
	if s.Position != position {
		what = append(what, "something was applied or forgotten since")
	}
	if !s.Selection.equal(selection) {
		what = append(what, "it was made for another selection")
	}
	return strings.Join(what, "; ")
}

func (s Selection) equal(other Selection) bool {
	return slices.Equal(s.Only, other.Only) && slices.Equal(s.Tags, other.Tags) && slices.Equal(s.SkipTags, other.SkipTags)
}

// Said returns the plan's decisions by id.
func (s *Saved) Said() map[string]SavedDecision {
	said := make(map[string]SavedDecision, len(s.Decisions))
	for _, d := range s.Decisions {
		said[d.ID] = d
	}
	return said
}
