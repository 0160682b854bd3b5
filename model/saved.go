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
// decisions rest on. It holds no text of a command and no value of a variable.
type Saved struct {
	Schema    string          `json:"schema"`
	Version   string          `json:"version"` // settle's
	Created   time.Time       `json:"created"`
	Manifest  string          `json:"manifest"` // as given, for people
	Hash      string          `json:"hash"`     // of its bytes and values
	Text      string          `json:"text"`     // of its bytes
	Identity  string          `json:"identity"`
	Position  string          `json:"position"` // of the journal: every apply moves it, so a plan serves once
	Selection Selection       `json:"selection"`
	Decisions []SavedDecision `json:"decisions"`
}

// SavedDecision is what a plan said of one resource.
type SavedDecision struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Diff   string `json:"diff,omitempty"` // a sum of what it showed would change: that, and nothing else, was agreed to
}

// Save makes a plan to keep from the results of a preview.
func Save(m *Manifest, position string, selection Selection, results []Result) Saved {
	s := Saved{Schema: SavedSchema, Manifest: m.Path, Hash: m.Hash, Text: m.TextHash, Identity: m.Identity, Position: position, Selection: selection}
	for i := range results {
		s.Decisions = append(s.Decisions, SavedDecision{results[i].ID, results[i].Status, results[i].DiffSum})
	}
	return s
}

// Differs says what the plan rests on that is no longer so, "" when all of it is.
func (s *Saved) Differs(m *Manifest, position string, selection Selection) string {
	var what []string
	switch {
	case s.Hash == m.Hash:
	case s.Text == m.TextHash:
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
