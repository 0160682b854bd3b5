// Package eval evaluates the expressions of a manifest: ${var.…}, ${env.…},
// ${host.…}, ${self.…} and ${each.…} in values, and the conditions of `when`.
//
// Values are put in after YAML is read, node by node: a node with an expression is
// replaced by one at the same place that holds the value. So a value is data. It
// cannot change the form of the manifest, and is not searched for expressions.
package eval

import (
	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model/condition"
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
	partial    bool // a file could not be read: it may declare an unknown variable
	ccm        bool // the manifest is a CCM manifest
}

// New returns the environment of a manifest: its variables are those that the
// files declare. It reports declarations and given values that are wrong. partial
// says that a file of the manifest could not be read.
func New(in Inputs, files []*parse.File, partial bool, sink *entry.Sink) *Env {
	e := &Env{sink: sink, partial: partial, environ: environ{list: in.Environ}, facts: facts{host: in.Host}}
	e.facts.given = readFacts(in, sink)
	for _, f := range files {
		if parse.Lookup(f.Root, "ccm") != nil {
			e.ccm = true
		} else if under := parse.Lookup(f.Root, "vars"); under != nil {
			e.declareAll(f, under)
		}
	}
	unread := e.giveAll(in)
	for _, v := range e.vars.list {
		e.checkVariable(v, unread)
	}
	return e
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

// Hash returns the hash of a manifest with the values that were put into it. It
// returns hash, that of the files, when nothing was put in.
func (e *Env) Hash(hash string) string { return e.tally.hash(hash) }
