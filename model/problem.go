package model

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// Advice is a message for the user with a suggestion of what to do next. Types
// that need more fields embed it.
type Advice struct {
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"` // "" without a suggestion
}

// String returns the advice as one line: message; suggestion.
func (a Advice) String() string {
	if a.Suggestion == "" {
		return a.Message
	}
	return a.Message + "; " + a.Suggestion
}

// AdviceError is an error whose suggestion is kept apart from its message, so that a
// Problem can show both.
type AdviceError struct{ Advice }

// NewAdvice returns an AdviceError. suggestion may be "".
func NewAdvice(message, suggestion string) error {
	return &AdviceError{Advice{Message: message, Suggestion: suggestion}}
}

// Error returns the message without the suggestion.
func (e *AdviceError) Error() string { return e.Message }

// SuggestionOf returns the suggestion of an AdviceError that err wraps, "" without one.
func SuggestionOf(err error) string {
	var advice *AdviceError
	if errors.As(err, &advice) {
		return advice.Suggestion
	}
	return ""
}

// Problem is a mistake in a manifest, or a warning, with its place.
type Problem struct {
	Pos
	ID         string `json:"id"`       // type#name, "" for the manifest as a whole
	Property   string `json:"property"` // "" when no property is at fault
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"` // "" without a suggestion

	Excerpt Excerpt `json:"-"` // zero when the line must not be shown
}

// Excerpt is the line of a manifest that has a problem, split at the problem's
// column and without secrets.
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

// Problems are all mistakes in a manifest. As an error it holds at least one.
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders the problems by place and drops exact duplicates.
func (ps Problems) Sort() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(ps)
}
