// Package entry holds the small values that the stages of loading a manifest
// share: the sink for problems, the subject of a problem, the limits, and the
// entries that one stage decodes and the next one connects. It knows no YAML.
package entry

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/settle-cm/settle/model"
)

// Subject says which part of a manifest a problem belongs to.
type Subject struct {
	ID       string // of the resource, type#name; "" for the manifest itself
	Property string // "" when no single property is concerned
}

// Problem returns a problem of the subject at a place.
func (s Subject) Problem(pos model.Pos, message, suggestion string) model.Problem {
	return model.Problem{Pos: pos, ID: s.ID, Property: s.Property, Message: message, Suggestion: suggestion}
}

// Sink collects the problems and warnings of a manifest. It keeps at most
// MaxProblems of each and drops repetitions: every resource that uses a default
// or an anchor reads it again and finds the same mistakes.
type Sink struct {
	path     string // of the manifest
	problems model.Problems
	warnings model.Problems
	reported map[report]bool
}

// report identifies a message about one place.
type report struct {
	model.Pos
	message string
}

// NewSink returns an empty sink for the manifest at a path.
func NewSink(path string) *Sink { return &Sink{path: path, reported: map[report]bool{}} }

// Refuse records a problem: the manifest cannot be loaded.
func (s *Sink) Refuse(p model.Problem) { s.problems = s.add(s.problems, p) }

// Warn records a warning: the manifest loads, but may not mean what its author intended.
func (s *Sink) Warn(p model.Problem) { s.warnings = s.add(s.warnings, p) }

func (s *Sink) add(list model.Problems, p model.Problem) model.Problems {
	key := report{p.Pos, p.Message}
	if len(list) > MaxProblems || s.reported[key] {
		return list
	}
	if len(list) == MaxProblems {
		return append(list, model.Problem{Pos: model.Pos{File: s.path}, Message: fmt.Sprintf("there are more: these are the first %d", MaxProblems)})
	}
	s.reported[key] = true
	return append(list, p)
}

// Count returns how many problems have been recorded.
func (s *Sink) Count() int { return len(s.problems) }

// Problems returns the problems so far. The caller may sort and change them.
func (s *Sink) Problems() model.Problems { return s.problems }

// Warnings returns the warnings so far. The caller may sort and change them.
func (s *Sink) Warnings() model.Problems { return s.warnings }

// Mark is a point in the sequence of problems and warnings.
type Mark struct{ problems, warnings int }

// Mark returns the present end of the sequence, for EditSince.
func (s *Sink) Mark() Mark { return Mark{len(s.problems), len(s.warnings)} }

// EditSince changes every problem and warning recorded after a mark. That a
// resource is sensitive may be known only after all its properties are read.
func (s *Sink) EditSince(m Mark, edit func(*model.Problem)) {
	for _, list := range []model.Problems{s.problems[m.problems:], s.warnings[m.warnings:]} {
		for i := range list {
			edit(&list[i])
		}
	}
}

// Attribute returns a problem whose message names the expressions that the value
// at its place came from: without them a reader looks for the wrong text in vain.
func Attribute(p model.Problem, uses []model.ValueUse) model.Problem {
	if len(uses) == 0 || strings.HasPrefix(p.Message, "${") {
		return p // the message is about one expression alone
	}
	var from []string
	for _, u := range uses {
		if u.Pos != p.Pos || slices.Contains(from, u.Expression) {
			continue
		}
		if strings.Contains(p.Message, u.Expression) {
			return p // it names its expression already, and the others may have no part in it
		}
		from = append(from, u.Expression)
	}
	switch all := strings.Join(from, ", "); {
	case len(from) == 0:
	case strings.HasSuffix(p.Message, `"`) || strings.Contains(p.Message, ", got "):
		p.Message += " from " + all
	default:
		p.Message += " (from " + all + ")"
	}
	return p
}

// Line returns the text of a place without its column, for use within a sentence.
func Line(pos model.Pos) string {
	pos.Column = 0
	return pos.String()
}

// DidYouMean returns the suggestion of a word, "" for no word.
func DidYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", word)
}

// Put sets a key of a map and returns the map, which it makes when it is nil.
// It suits maps that mostly stay empty.
func Put[K comparable, V any](m map[K]V, key K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = v
	return m
}

// Pattern returns a function that compiles a regular expression on first use. Most
// manifests need none of them, and compiling all would slow down every start.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
