// Package manifests turns the bytes of a manifest into a model.Manifest, or
// into every problem in them, each with its place and a way out. It is the only
// package that knows YAML, and it knows no resource type: what an entry may
// hold comes from the table of types.
//
// The way is straight: the text of each file (include.go) is checked (text.go)
// and parsed once into a tree (parse.go, syntax.go); the tree is checked for
// what a walk over it would not see or not survive (tree.go); the walk turns it into bodies of shaped
// values (root.go, entries.go, values.go), which their types decode
// (resource.go); then references become edges, and edges an order (refs.go).
package manifests

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/condition"
	"github.com/settle-cm/settle/model/value"
)

// Source is a manifest before it is read.
type Source struct {
	Path     string // as the user gave it, for messages
	Dir      string // absolute; what relative paths in it are relative to
	Identity string // the absolute path of the file, "" for standard input: used when the manifest has no name
	Bytes    []byte
	Environ  []string // settle's own environment: of the values of secrets, which are kept out of what is said, of ${env.…} and of SETTLE_VAR_…
	Inputs
}

// Inputs are the values that a manifest is given from outside, and how it gets
// more: the functions are called when something first asks, and may be nil.
type Inputs struct {
	Vars      []Given                                   // --var; of two of one name the later wins
	VarFiles  []ValueFile                               // --var-file, over Vars
	Facts     []Given                                   // --fact, over what Host says
	FactFiles []ValueFile                               // --facts-file, over what Host says and under Facts
	Host      func() (map[string]any, error)            // facts of this machine: texts, ints, []any and map[string]any
	Elsewhere func(variable string) bool                // says that it is not this manifest, but one that is given the same, which declares it
	Include   func(path string) (src []byte, err error) // reads an included file by its absolute path
}

// Given is a value given on the command line, K=V.
type Given struct{ Key, Text string }

// ValueFile is a file of values, YAML or JSON.
type ValueFile struct {
	Path  string // as the user gave it
	Bytes []byte
}

// Load reads a manifest of resources of the given types. The manifest is
// non-nil exactly when there is no problem. Warnings are beside either.
func Load(src Source, types []model.Type) (m *model.Manifest, problems, warnings model.Problems) {
	l := read(src, types)
	e := l.excerpts()
	problems, warnings = e.of(l.sink.Problems().Sort()), e.of(l.sink.Warnings().Sort())
	if len(problems) > 0 {
		return nil, problems, warnings
	}
	return l.m, nil, warnings
}

// Identify returns a manifest that has nothing but its name and identity, for
// who only has to know whose state is meant: whatever else is wrong with it. It
// is nil where those cannot be told, and the problems are why.
func Identify(src Source) (*model.Manifest, model.Problems) {
	l := newLoader(src, nil)
	main := l.file
	l.gather()
	if main.Root != nil {
		l.takeValues(main)
		if l.name(main.Root) {
			return l.m, nil // whatever else is wrong does not concern the identity
		}
	}
	if l.sink.Count() > 0 {
		e := l.excerpts()
		return nil, e.of(l.sink.Problems().Sort())
	}
	return l.m, nil
}

// Variables returns the names of the variables that a manifest declares,
// whatever else is wrong with it.
func Variables(src Source) []string {
	src.Inputs = Inputs{Include: src.Include}
	l := newLoader(src, nil)
	main := l.file
	l.gather()
	l.takeValues(main)
	return l.varNames
}

// name reads only the name of a manifest. It returns false after saying what is
// wrong with it.
func (l *loader) name(root *yaml.Node) bool {
	for key, value := range parse.Pairs(root) {
		switch key.Value {
		case "ccm": // which has none
			return true
		case "name":
			s := scope{l: l, property: "name"}
			v, ok := s.value(schema.Find(schema.Keys, "name"), key, value)
			if !ok {
				return false
			}
			l.keys = settings{"name": v}
		}
	}
	l.setName()
	return true
}

// Name returns the name that a manifest gives itself: also one with problems is
// to be told from others. It is empty when there is none, or no YAML to read it in.
func Name(src Source) string {
	root := parse.Parse(src.Path, src.Bytes, entry.NewSink(src.Path)).Root
	if root == nil || root.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(root.Content); i += 2 { // not pairs: the tree may be one that no walk would survive
		key, name := root.Content[i], root.Content[i+1]
		if key.Value != "name" || name.Kind != yaml.ScalarNode || parse.IsNull(name) || strings.ContainsAny(name.Value, "\r\n") {
			continue
		}
		if !value.Has(name.Value) {
			return name.Value
		}
		if m, _ := Identify(src); m != nil {
			return m.Name
		}
	}
	return ""
}

// loader is the state of one Load.
type loader struct {
	src          Source
	file         *file   // that is being read
	files        []*file // all, in the order of their resources
	partial      bool    // there is one that cannot be read, or not made a tree of: what it holds is not known
	counts       parse.Counts
	size         int // of the files, in bytes
	types        []model.Type
	vocabularies map[string]*schema.Vocabulary
	m            *model.Manifest
	base         model.Base
	keys         settings             // of the file, by name
	defaults     map[string]*defaults // of the whole file, by type
	body         model.Body           // the resource that is being read

	copy        *rendering         // that is made of it; nil for none
	values                         // what ${…} leads to
	unrolled    int                // resources made by for_each
	blurred     map[string]bool    // types some of whose resources are not known, because their for_each is wrong
	ids         []string           // of the resources, by their index
	numbers     map[model.Ref]int  // resources by name and alias
	ghosts      map[model.Ref]bool // resources that could not be read: a reference to one is no problem of its own
	links       [4][]link          // references to other resources, by edgeProperties
	refreshOnly []link             // resources that wait for a refresh
	known       []string           // all names and aliases, for suggestions
	guesses     int                // names compared with references that name nothing
	places      map[string]int     // paths where resources stand, as indexes of standing
	standing    []standing
	made        []made                          // paths at which resources make something
	weight      int                             // bytes of text that the resources have
	claims      map[string]int                  // paths that resources write
	revealed    map[string]bool                 // the values in SecretValues
	circles     [][]int                         // resources that wait for themselves or for each other, a problem each
	lacking     model.Problems                  // values that are not there, of the resource that is being read
	conditions  map[string]*condition.Condition // by their text and the shape of the item that they are for
	answers     map[string]answer               // of conditions, by their text
	sink        *entry.Sink
}

// read takes a manifest through all that finds problems in it.
func read(src Source, types []model.Type) *loader {
	l := newLoader(src, types)
	l.read()
	return l
}

func (l *loader) read() {
	main := l.file
	l.gather()
	if main.Root == nil {
		return
	}
	l.takeValues(main)
	for _, f := range l.files {
		l.enter(f)
		l.root(f)
	}
	for _, f := range l.files {
		l.enter(f)
		l.fill(f)
	}
	l.connect()
	l.seal()
}

func newLoader(src Source, types []model.Type) *loader {
	l := &loader{
		src: src, file: &file{File: &parse.File{Path: src.Path}, abs: src.Identity, dir: src.Dir}, types: types, vocabularies: make(map[string]*schema.Vocabulary, len(types)),
		m:        &model.Manifest{Path: src.Path, Dir: src.Dir, Identity: src.Identity, Parallel: 1},
		body:     model.Body{Values: settings{}},
		numbers:  map[model.Ref]int{},
		ghosts:   map[model.Ref]bool{},
		claims:   map[string]int{},
		places:   map[string]int{},
		revealed: map[string]bool{},
		sink:     entry.NewSink(src.Path),
	}
	for i := range types {
		l.vocabularies[types[i].Name] = schema.NewVocabulary(&types[i])
	}
	return l
}

func (l *loader) problem(p model.Problem) { l.sink.Refuse(entry.Attribute(p, l.uses)) }
func (l *loader) warning(p model.Problem) { l.sink.Warn(entry.Attribute(p, l.uses)) }

// parse reads the bytes of a file, and returns its tree.
func (l *loader) parse(f *file, data []byte) *yaml.Node {
	f.File = parse.Parse(f.Path, data, l.sink)
	return f.Root
}

// sound reports whether the tree of a file is safe to walk.
func (l *loader) sound(f *file) bool {
	var ok bool
	l.counts, ok = f.Check(l.counts, l.sink)
	return ok
}

func (l *loader) pos(n *yaml.Node) model.Pos { return l.file.Pos(n) }

// refuse records a problem of the manifest as a whole at a node.
func (l *loader) refuse(n *yaml.Node, message, suggestion string) {
	l.problem(model.Problem{Pos: l.pos(n), Message: message, Suggestion: suggestion})
}

// refuseWord records that a key is unknown, and returns the known word it stands for.
func (l *loader) refuseWord(key *yaml.Node, u schema.Unknown) string {
	l.refuse(key, u.Message, u.Suggestion)
	return u.Meant
}
