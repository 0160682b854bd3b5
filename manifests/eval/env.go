// Package eval evaluates the expressions of a manifest: ${var.…}, ${env.…},
// ${host.…}, ${self.…} and ${each.…} in values, and the conditions of `when`.
//
// Values are put in after YAML is read, node by node: a node with an expression is
// replaced by one at the same place that holds the value. So a value is data. It
// cannot change the form of the manifest, and is not searched for expressions.
package eval

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/ccm"
	"github.com/settle-cm/settle/model/condition"
	"github.com/settle-cm/settle/model/value"
)

// Env is everything that the expressions of one manifest can lead to. Variables
// and facts are evaluated once, when an expression first needs them.
type Env struct {
	sink       *entry.Sink
	vars       variables
	environ    environ
	facts      facts
	tally      tally
	conditions map[string]*condition.Condition // by text and shape of the item
	answers    map[string]answer               // of conditions without an item, by text
	secrets    entry.Secrets
	dataFiles  []*parse.File                     // files of levels, and templates
	templates  map[string]*template              // by absolute path
	readFile   func(path string) ([]byte, error) // reads a file that the manifest names; may be nil
	peek       func(path string) []byte          // reads the beginning of a file; may be nil
	guesses    int                               // names compared for suggestions so far
	hasLevels  bool                              // the manifest has a hierarchy
	partial    bool                              // a file could not be read: it may declare an unknown variable
	world      ccm.World                         // of a CCM manifest
	ccm        bool                              // the manifest is a CCM manifest
}

// template is a file with expressions. A file is read and parsed once.
type template struct {
	file     *parse.File // for the places of problems; it has no tree
	text     string      // as the file has it, to the byte
	parts    []value.Part
	problems []value.Problem
	err      error // the file could not be read
}

// New returns the environment of a manifest: its variables are those that the
// files declare. It reports declarations and given values that are wrong. partial
// says that a file of the manifest could not be read.
func New(in Inputs, files []Source, partial bool, sink *entry.Sink) *Env {
	e := &Env{sink: sink, partial: partial, readFile: in.ReadFile, peek: in.Peek, environ: environ{list: in.Environ}, facts: facts{host: in.Host}}
	e.ccm = len(files) > 0 && parse.Lookup(files[len(files)-1].Root, "ccm") != nil
	e.facts.given = readFacts(in, e.ccm, sink)
	if e.ccm { // it has data in place of variables
		e.readCCM(files[len(files)-1].File, in)
		return e
	}
	for _, f := range files {
		if under := parse.Lookup(f.Root, "vars"); under != nil {
			e.declareAll(f.File, under)
		}
	}
	unread := e.giveAll(in)
	if len(files) > 0 {
		e.overrideAll(files)
	}
	for _, v := range e.vars.list {
		e.checkVariable(v, unread)
	}
	return e
}

// hasExpression reports whether a text has an expression.
func (e *Env) hasExpression(text string) bool {
	return strings.Contains(text, "{") && (value.HasExpression(text) || e.ccm && ccm.Has(text))
}

// IsCCM reports whether the manifest is a CCM manifest.
func (e *Env) IsCCM() bool { return e.ccm }

// VariableNames returns the names of the declared variables, in order.
func (e *Env) VariableNames() []string { return e.vars.names }

// SecretValues returns the values of secret variables, and those that expressions
// took from the environment under one of the given names of secrets.
func (e *Env) SecretValues(names []string) []string {
	for _, name := range names {
		if text := e.environ.values[name]; e.environ.asked[name] && text != "" {
			e.secrets.Add(text)
		}
	}
	return e.secrets.Values()
}

// DataFiles returns the files of overrides that were read.
func (e *Env) DataFiles() []*parse.File { return e.dataFiles }

// Hash returns the hash of a manifest with the values that were put into it. It
// returns hash, that of the files, when nothing was put in.
func (e *Env) Hash(hash string) string { return e.tally.hash(hash) }

// Frame is where in a manifest a value stands. It is passed by value: nothing has
// to be saved and restored when an expression leads to another file.
type Frame struct {
	File *parse.File
	Dir  string     // that relative paths in a resource are relative to; absolute
	Ref  *model.Ref // the resource that the value belongs to; nil outside of resources
	Item *Item      // the item of for_each that the resource is made for; nil without
	entry.Subject
}

// Item is one item of a for_each: the value of ${each.key} and ${each.value}.
type Item struct {
	Key     any // an int in a list, a text in a map
	Value   any
	Unknown bool // the for_each could not be evaluated, so what needs its items is not reported
}

// newFrame returns the frame of a key of a file.
func newFrame(f *parse.File, key string) Frame {
	return Frame{File: f, Subject: entry.Subject{Property: key}}
}

// In returns the frame of another property of the same subject.
func (f Frame) In(property string) Frame {
	f.Property = property
	return f
}

// Found holds the values that an evaluation used and missed.
type Found struct {
	Uses []model.ValueUse // values that expressions led to, in order
	// Missing holds problems for expressions that lead to nothing. They do not count
	// in a resource that turns out to be off: its values may exist elsewhere only.
	Missing model.Problems
}

// add appends the values of another evaluation.
func (f *Found) add(other Found) {
	f.Uses = append(f.Uses, other.Uses...)
	f.Missing = append(f.Missing, other.Missing...)
}

// finish completes the result of an evaluation in a frame. Outside of resources missing values
// are reported at once.
func (e *Env) finish(f Frame, found Found) Found {
	if f.Ref == nil {
		for _, p := range found.Missing {
			e.sink.Refuse(p)
		}
		found.Missing = nil
	}
	return found
}

// refuse records a problem of the subject of a frame at a node.
func (e *Env) refuse(f Frame, n *yaml.Node, message, suggestion string) {
	e.sink.Refuse(f.Problem(f.File.Pos(n), message, suggestion))
}

// reader returns a reader for nodes without expressions.
func (e *Env) reader(f Frame) shape.Reader {
	return shape.Reader{File: f.File, Subject: f.Subject, Sink: e.sink}
}

// environ is the environment of settle. It remembers which variables were asked
// for: only their values can have come into the manifest.
type environ struct {
	list   []string          // KEY=VALUE
	values map[string]string // by name; filled on first use
	asked  map[string]bool
}

// get returns a variable. Of two with one name the first counts, as for a process.
func (e *environ) get(name string) (string, bool) {
	if e.values == nil {
		e.values, e.asked = make(map[string]string, len(e.list)), map[string]bool{}
		for _, pair := range e.list {
			key, text, ok := strings.Cut(pair, "=")
			if _, twice := e.values[key]; ok && !twice {
				e.values[key] = text
			}
		}
	}
	e.asked[name] = true
	text, ok := e.values[name]
	return text, ok
}
