package model

import (
	"cmp"
	"slices"
	"strings"
)

// Advice is a message for a person, with a suggestion of what to do next. It is
// the one type for both: types that say more embed it.
type Advice struct {
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"` // "" when there is none
}

// String returns the advice as one line: message; suggestion.
func (a Advice) String() string {
	if a.Suggestion == "" {
		return a.Message
	}
	return a.Message + "; " + a.Suggestion
}

// Problem is a mistake in a manifest, or a warning, with its place and a way out.
type Problem struct {
	Pos
	ID         string `json:"id"`       // type#name, "" for the manifest as a whole
	Property   string `json:"property"` // "" when no property is at fault
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"` // "" when there is none

	Excerpt Excerpt `json:"-"` // for people who can see it; zero when it is not to be shown
}

// Excerpt is the line of a manifest that a problem stands in, cut at the
// problem's column, without secrets.
type Excerpt struct{ Before, From string }

// String returns the problem as one line: file:line:col: type#name: property: message (suggestion).
func (p Problem) String() string {
	var b strings.Builder
	for _, part := range []string{p.Pos.String(), p.ID, p.Property} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(p.Message)
	if p.Suggestion != "" {
		b.WriteString("; ")
		b.WriteString(p.Suggestion)
	}
	return b.String()
}

// Problems is everything that is wrong with a manifest: an error that holds at least one.
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Sort puts problems in the order of their places and drops exact repetitions.
func (ps Problems) Sort() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(ps)
}
