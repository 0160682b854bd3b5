package model

import (
	"strings"
	"time"
)

// Body is one resource as it stands in a manifest: its properties with their
// places, their shapes checked against the type's Properties. A type's Decode
// reads it, and says what is wrong with it, all at once. It is the type's only
// as long as Decode runs: the next resource uses the same map.
type Body struct {
	Ref
	Pos
	Base
	Named    Value            // the name, for a type whose command it can be: with the marks and holes of the values in it
	Values   map[string]Value // by property; defaults of the manifest are in it already
	Off      bool             // it is not for this machine: what it writes may be another one's there
	Claims   []Claim
	Place    Place
	Problems Problems
	Warnings Problems
}

// Claim is a path that a resource writes, so that no other resource may.
type Claim struct {
	Path string // absolute
	Pos  Pos    // where it is said
}

// Place is where a resource stands among the files of the machine: what stands
// below it, or is written there, waits for it. The zero value is nowhere.
type Place struct {
	Path   string // absolute and clean
	Empty  bool   // nothing is to be there
	Closed bool   // nor can anything be below it: what is to be there is no directory
}

// Base is what a type may need to know of the manifest around a resource.
type Base struct {
	Dir      string // absolute; what a relative cwd is relative to
	CCM      bool   // a CCM manifest
	CleanEnv bool   // the manifest's clean_env
}

// Shape is the outer form of a value.
type Shape uint8

// The shapes of values.
const (
	Scalar Shape = iota
	List
	Map
)

// Value is one value with its place. Which fields are set depends on the kind
// of the property: the loader has checked that they fit it.
type Value struct {
	Pos
	Text         string  // Scalar: as written (Line kinds: one trailing newline dropped)
	Items        []Value // List
	Pairs        []Pair  // Map, and Environment in both forms
	Int          int     // Int and Count, and each of Codes' items
	Duration     time.Duration
	Shape        Shape
	Quoted       bool          // Scalar: quoted or a block scalar, so never a slip of YAML's typing
	Bool         bool          // Bool; CodesOrTrue: true was written
	Default      bool          // came from defaults, not from the resource itself
	Placeholders *Placeholders // Scalar with values in it; nil when it has none
}

// PlaceholderByte stands in a command's text where a value goes: no text of a manifest can
// hold a zero byte.
const PlaceholderByte = "\x00"

// Placeholders are where values stand in a text. A command's text has a Mark for each,
// and its Values are here: what one must look like there only the provider knows
// that makes words of the text: a posix one fills the words after it has split, a
// shell one quotes. Any other text has its values in it.
type Placeholders struct {
	Template string        // the text as it is written, with a Mark for each value
	Items    []Placeholder // of a command, in the order of the marks
	Filled   string        // a command's the text with the values in it, as it could be written in a manifest: left by whoever makes words of it
}

// Placeholder is one value of a command's text.
type Placeholder struct {
	Text string // the value
	Expr string // what it was written as: ${var.x}
	Raw  bool   // ${raw.…}: it goes into the text as it stands
}

// Each returns the values of the holes, none where there are no holes at all.
func (h *Placeholders) Each() []Placeholder {
	if h == nil {
		return nil
	}
	return h.Items
}

// Fill returns the text with something in place of each of its marks, in their
// order. What is put in is not looked at again.
func Fill(text string, holes []Placeholder, put func(Placeholder) string) string {
	if len(holes) == 0 {
		return text
	}
	var b strings.Builder
	for _, h := range holes {
		before, after, ok := strings.Cut(text, PlaceholderByte)
		if !ok {
			break // a part of a text may have fewer marks than the whole has holes
		}
		b.WriteString(before)
		b.WriteString(put(h))
		text = after
	}
	return b.String() + text
}

// Written returns the text as it stands in the manifest, with the expressions
// in place of its marks.
func Written(text string, holes []Placeholder) string {
	return Fill(text, holes, func(h Placeholder) string { return h.Expr })
}

// Pair is one key of a map with its value.
type Pair struct {
	Pos
	Key   string
	Value Value
}

// Each returns the items of a list, or the value itself as its only one.
func (v Value) Each() []Value {
	if v.Shape == List {
		return v.Items
	}
	return []Value{v}
}

// Template returns the text as it is written, with a Mark for each value in it.
func (v Value) Template() string {
	if v.Placeholders != nil {
		return v.Placeholders.Template
	}
	return v.Text
}

// Has says whether the property is given.
func (b *Body) Has(property string) bool { _, ok := b.Values[property]; return ok }

// Text returns a Text, Line or Choice property, "" when absent.
func (b *Body) Text(property string) string { return b.Values[property].Text }

// Bool returns a Bool property, false when absent.
func (b *Body) Bool(property string) bool { return b.Values[property].Bool }

// Duration returns a Duration property, zero when absent.
func (b *Body) Duration(property string) time.Duration { return b.Values[property].Duration }

// Each returns the texts of a Lines, PathList, CommandLine or CommandLines property
// with their places, whether it was written as one scalar or as a list.
func (b *Body) Each(property string) []Value {
	v, ok := b.Values[property]
	if !ok {
		return nil
	}
	return v.Each()
}

// Codes returns the exit codes of a Codes or CodesOrTrue property, nil when absent.
func (b *Body) Codes(property string) []int {
	var codes []int
	for _, v := range b.Values[property].Items {
		codes = append(codes, v.Int)
	}
	return codes
}

// Refuse records that a property is wrong, at the property's place (the
// resource's where the property is absent).
func (b *Body) Refuse(property, message, suggestion string) {
	b.RefuseAt(b.at(property), property, message, suggestion)
}

// RefuseAt is Refuse with the place of a part of the property's value.
func (b *Body) RefuseAt(pos Pos, property, message, suggestion string) {
	b.Problems = append(b.Problems, Problem{Pos: pos, ID: b.Ref.String(), Property: property, Message: message, Suggestion: suggestion})
}

// Warn records what a person may not have meant; it stops nothing without --strict.
func (b *Body) Warn(property, message, suggestion string) {
	b.WarnAt(b.at(property), property, message, suggestion)
}

// WarnAt is Warn with the place of a part of the property's value.
func (b *Body) WarnAt(pos Pos, property, message, suggestion string) {
	b.Warnings = append(b.Warnings, Problem{Pos: pos, ID: b.Ref.String(), Property: property, Message: message, Suggestion: suggestion})
}

// Claim records that the resource writes a path, as a property says (or the
// resource, where the property is absent).
func (b *Body) Claim(property, path string) {
	b.Claims = append(b.Claims, Claim{path, b.at(property)})
}

func (b *Body) at(property string) Pos {
	if v, ok := b.Values[property]; ok {
		return v.Pos
	}
	return b.Pos
}
