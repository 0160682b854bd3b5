// Package manifests turns the bytes of a manifest into a model.Manifest, or
// into every problem in them, each with its place and a way out. It is the only
// package that knows YAML, and it knows no resource type: what an entry may
// hold comes from the table of types.
//
// The way is straight: the text is checked (text.go) and parsed once into a
// tree (parse.go, syntax.go); the tree is checked for what a walk over it would
// not see or not survive (tree.go); the walk turns it into bodies of shaped
// values (root.go, entries.go, values.go), which their types decode
// (resource.go); then references become edges, and edges an order (refs.go).
package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/settle-cm/settle/model"
)

// Source is a manifest before it is read.
type Source struct {
	Path     string // as the user gave it, for messages
	Dir      string // absolute; what relative paths in it are relative to
	Identity string // the absolute path of the file, "" for standard input: used when the manifest has no name
	Bytes    []byte
}

// Load reads a manifest of resources of the given types. The manifest is
// non-nil exactly when there is no problem; its warnings are in it.
func Load(src Source, types []model.Type) (*model.Manifest, model.Problems) {
	l := read(src, types)
	if len(l.problems) > 0 {
		return nil, l.hide(once(l.problems))
	}
	l.m.Warnings = l.hide(once(l.warnings))
	return l.m, nil
}

// loader is the state of one Load.
type loader struct {
	src          Source
	text         text
	types        []model.Type
	vocabularies map[string]*vocabulary
	m            *model.Manifest
	base         model.Base
	keys         settings            // of the manifest, by name
	defaults     map[string]settings // of the whole file, by type
	body         model.Body          // the resource that is being read

	ids         []string           // of the resources, by their index
	numbers     map[model.Ref]int  // resources by name and alias
	ghosts      map[model.Ref]bool // resources that could not be read: a reference to one is no problem of its own
	links       [4][]link          // references to other resources, by edgeProperties
	refreshOnly []link             // resources that wait for a refresh
	known       []string           // all names and aliases, for suggestions
	guesses     int                // names compared with references that name nothing
	claims      map[string]int     // paths that resources write
	revealed    map[string]bool    // the values in SecretValues
	circles     [][]int            // resources that wait for themselves or for each other, a problem each
	problems    model.Problems
	warnings    model.Problems
}

// read takes a manifest through all that finds problems in it.
func read(src Source, types []model.Type) *loader {
	l := newLoader(src, types)
	if root := l.parse(); root != nil && l.sound(root) {
		l.root(root)
		l.connect()
	}
	return l
}

func newLoader(src Source, types []model.Type) *loader {
	sum := sha256.Sum256(src.Bytes)
	l := &loader{
		src: src, types: types, vocabularies: make(map[string]*vocabulary, len(types)),
		m:        &model.Manifest{Path: src.Path, Dir: src.Dir, Identity: src.Identity, Hash: hex.EncodeToString(sum[:]), Parallel: 1},
		base:     model.Base{Dir: src.Dir},
		keys:     settings{},
		defaults: map[string]settings{},
		body:     model.Body{Values: settings{}},
		numbers:  map[model.Ref]int{},
		ghosts:   map[model.Ref]bool{},
		claims:   map[string]int{},
		revealed: map[string]bool{},
	}
	for i := range types {
		l.vocabularies[types[i].Name] = newVocabulary(&types[i])
	}
	return l
}

// vocabulary is what the entries of one type may hold.
type vocabulary struct {
	*model.Type
	properties   map[string]*model.Property
	words        []string // the properties' names, those of the type first
	environments []string // the properties that hold environment variables
}

func newVocabulary(t *model.Type) *vocabulary {
	v := &vocabulary{Type: t, properties: map[string]*model.Property{}}
	for _, list := range [][]model.Property{t.Properties, model.Common} {
		for i, p := range list {
			if v.properties[p.Name] == nil { // a type may give a common property its own default
				v.properties[p.Name] = &list[i]
				v.words = append(v.words, p.Name)
				if p.Kind == model.Environment {
					v.environments = append(v.environments, p.Name)
				}
			}
		}
	}
	return v
}

// once sorts problems and keeps one of those that say the same of the same
// place: a default or an anchor is read by every resource that uses it.
func once(problems model.Problems) model.Problems {
	type said struct {
		model.Pos
		property, message string
	}
	seen := make(map[said]bool, len(problems))
	var kept model.Problems
	for _, p := range problems {
		key := said{p.Pos, p.Property, p.Message}
		if p.Line == 0 || !seen[key] {
			kept = append(kept, p)
		}
		seen[key] = true
	}
	return kept.Sort()
}

// hide takes the values of secrets out of what is said: a manifest may hold
// some of them itself.
func (l *loader) hide(problems model.Problems) model.Problems {
	var pairs []string
	for _, value := range l.m.SecretValues {
		if len(value) >= 4 { // a shorter one would hide half of every text
			pairs = append(pairs, value, "***")
		}
	}
	hidden := strings.NewReplacer(pairs...)
	for i := range problems {
		p := &problems[i]
		p.Message, p.Suggestion = hidden.Replace(p.Message), hidden.Replace(p.Suggestion)
	}
	return problems
}
