package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SavedSchema is the schema name of a saved plan.
const SavedSchema = "settle.plan/v1"

// SavedPlan is a plan that is kept for a later apply: its decisions, and sums of
// everything that they depend on. It holds no command and no value of a variable.
// The sums are keyed, so that a short secret cannot be found by trying values.
type SavedPlan struct {
	Schema    string          `json:"schema"`
	Version   string          `json:"version"` // settle's
	Created   time.Time       `json:"created"`
	Manifest  string          `json:"manifest"` // path as given, for messages
	Hash      string          `json:"hash"`     // keyed sum of its bytes and values
	Text      string          `json:"text"`     // keyed sum of its bytes
	Identity  string          `json:"identity"`
	Position  string          `json:"position"` // of the journal: every apply moves it, so a plan serves once
	Selection Selection       `json:"selection"`
	Decisions []SavedDecision `json:"decisions"`
}

// SavedDecision is the decision of a plan for one resource.
type SavedDecision struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Diff   string `json:"diff,omitempty"` // keyed sum of the diff that the plan showed
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

// SavePlan returns a saved plan with the results of a preview.
func SavePlan(m *Manifest, position string, selection Selection, results []Result, sum KeyedSum) SavedPlan {
	s := SavedPlan{Schema: SavedSchema, Manifest: m.Path, Hash: sum(m.Hash), Text: sum(m.TextHash), Identity: m.Identity, Position: position, Selection: selection}
	for i := range results {
		s.Decisions = append(s.Decisions, SavedDecision{results[i].ID, results[i].Status, sum.of(results[i].DiffSum)})
	}
	return s
}

// ShowedDiff reports whether the plan showed the diff with this sum.
func (d SavedDecision) ShowedDiff(diffSum string, sum KeyedSum) bool {
	return d.Diff == sum.of(diffSum)
}

// DescribeChanges returns which of the inputs of the plan have changed since, as
// one text, "" when none has.
func (s *SavedPlan) DescribeChanges(m *Manifest, position string, selection Selection, sum KeyedSum) string {
	var changes []string
	switch {
	case s.Hash == sum(m.Hash):
	case s.Text == sum(m.TextHash):
		changes = append(changes, "its values are not those that were planned: give the same --var, --var-file, --fact, --facts-file and environment")
	default:
		changes = append(changes, "the manifest is not the one that was planned")
	}
	if s.Identity != m.Identity {
		changes = append(changes, fmt.Sprintf("it was made for %q, this is %q", s.Identity, m.Identity))
	}
	if s.Position != position {
		changes = append(changes, "something was applied or forgotten since")
	}
	if !s.Selection.equal(selection) {
		changes = append(changes, "it was made for another selection")
	}
	return strings.Join(changes, "; ")
}

func (s Selection) equal(other Selection) bool {
	return slices.Equal(s.Only, other.Only) && slices.Equal(s.Tags, other.Tags) && slices.Equal(s.SkipTags, other.SkipTags)
}

// DecisionsByID returns the plan's decisions by the id of their resource.
func (s *SavedPlan) DecisionsByID() map[string]SavedDecision {
	decisions := make(map[string]SavedDecision, len(s.Decisions))
	for _, d := range s.Decisions {
		decisions[d.ID] = d
	}
	return decisions
}
