package eval

import (
	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model"
)

// Frame is where in a manifest a value stands. It is passed by value: nothing has
// to be saved and restored when an expression leads to another file.
type Frame struct {
	File *parse.File
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
