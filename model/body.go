package model

import (
	"strings"
	"time"

	"github.com/settle-cm/settle/model/shelltext"
)

// Body is one resource as a manifest declares it: its properties with their
// places. The loader has checked their shapes against the type's Properties.
// A type's Decode reads the body and adds every mistake to Problems. Decode must
// not keep the body, because the next resource uses the same map.
type Body struct {
	Ref
	Pos
	Base
	Named    Value            // the name with its placeholders, for a type that can use the name as its command
	Values   map[string]Value // by property, with the defaults of the manifest
	Off      bool             // the resource is not for this machine, so another one may write the same paths
	Claims   []PathClaim
	Occupied OccupiedPath
	Reads    []string // absolute paths that the resource reads; see ReadPath
	Secrets  []string // values of properties that are never shown
	Problems Problems
	Warnings Problems
}

// PathClaim is an exclusive claim of a resource to write a path. The loader
// refuses a second resource that claims the same path.
type PathClaim struct {
	Path string // absolute
	Pos  Pos    // of the property that declares the path
}

// OccupiedPath is a path whose entry a resource manages. Resources that make
// something below the path wait for this resource. The zero value is no path.
type OccupiedPath struct {
	Path   string // absolute and clean
	Absent bool   // the resource makes the path absent, so it makes nothing there
	Leaf   bool   // the entry cannot be a directory, so nothing can be below the path
	Whole  bool   // the resource removes everything else below the path
}

// Base holds the settings of the manifest that a type needs to decode a resource.
type Base struct {
	Dir      string // absolute; the base of relative paths
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

// Value is one value with its place. The kind of the property decides which
// fields are set; the loader has checked them.
type Value struct {
	Pos
	Text         string  // Scalar: as written (Line kinds: one trailing newline dropped)
	Items        []Value // List; of a Template the text of the file with its values, as one item
	Pairs        []Pair  // Map, and Environment in both forms
	Int          int     // Int and Count, and each of Codes' items
	Duration     time.Duration
	Shape        Shape
	Quoted       bool          // Scalar: quoted or a block scalar, so YAML did not choose its type
	Bool         bool          // Bool; CodesOrTrue: true was written
	Default      bool          // came from defaults, not from the resource itself
	Placeholders *Placeholders // of a Scalar; nil without any
}

// PlaceholderByte marks the place of a value in the text of a command. It cannot
// collide with the text, because no text of a manifest can hold a zero byte.
const PlaceholderByte = "\x00"

// Placeholders are the places of values in a text. Only the text of a command
// still has a PlaceholderByte for each value, because its provider decides how to
// insert one: posix fills the words after splitting, shell quotes the values.
// In every other text the loader has inserted the values already.
type Placeholders struct {
	Template    string        // the text as written, with a PlaceholderByte for each value
	Expressions []string      // of any other text: the expressions as written, in the order of the text
	Items       []Placeholder // of a command, in the order of the text
	Filled      string        // of a command: the text with its values, quoted for a manifest; set by the type that splits it
}

// Placeholder is one value of a command's text.
type Placeholder struct {
	Text string // the value
	Expr string // the expression as written: ${var.x}
	Raw  bool   // ${raw.…}: the value is inserted without quoting
}

// Each returns the placeholders of a command, nil without any.
func (h *Placeholders) Each() []Placeholder {
	if h == nil {
		return nil
	}
	return h.Items
}

// Fill returns text with each PlaceholderByte replaced by what put returns for its
// placeholder. Replacements are not searched for further placeholders.
func Fill(text string, placeholders []Placeholder, put func(Placeholder) string) string {
	if len(placeholders) == 0 {
		return text
	}
	var b strings.Builder
	for _, p := range placeholders {
		before, after, ok := strings.Cut(text, PlaceholderByte)
		if !ok {
			break // text may be a part of the command
		}
		b.WriteString(before)
		b.WriteString(put(p))
		text = after
	}
	return b.String() + text
}

// RestoreExpressions returns text as it is written in the manifest, with the
// expression of each placeholder.
func RestoreExpressions(text string, placeholders []Placeholder) string {
	return Fill(text, placeholders, func(p Placeholder) string { return p.Expr })
}

// Pair is one key of a map with its value.
type Pair struct {
	Pos
	Key   string
	Value Value
}

// Each returns the items of a list, or a list of the value itself.
func (v Value) Each() []Value {
	if v.Shape == List {
		return v.Items
	}
	return []Value{v}
}

// Template returns the text as written, with a PlaceholderByte for each value.
func (v Value) Template() string {
	if v.Placeholders != nil {
		return v.Placeholders.Template
	}
	return v.Text
}

// RefuseShellText refuses a list of words in which a value stands in a text that a
// shell reads, as in [sh, -c, "echo ${var.x}"].
func (b *Body) RefuseShellText(property string, items []Value) {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = item.Template()
	}
	for i, item := range items {
		front, _, ok := strings.Cut(words[i], PlaceholderByte)
		if !ok || item.Placeholders == nil || len(item.Placeholders.Expressions) == 0 {
			continue
		}
		if program := shelltext.Reader(words, i, front); program != "" {
			message, suggestion := shelltext.Advise(program, item.Placeholders.Expressions[0])
			b.RefuseAt(item.Pos, property, message, suggestion)
		}
	}
}

// Has reports whether the property is given.
func (b *Body) Has(property string) bool { _, ok := b.Values[property]; return ok }

// Text returns a Text, Line or Choice property, "" when absent.
func (b *Body) Text(property string) string { return b.Values[property].Text }

// Bool returns a Bool property, false when absent.
func (b *Body) Bool(property string) bool { return b.Values[property].Bool }

// Duration returns a Duration property, zero when absent.
func (b *Body) Duration(property string) time.Duration { return b.Values[property].Duration }

// Each returns the items of a Lines, PathList, CommandLine or CommandLines
// property. A scalar counts as a list of one item.
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

// Refuse adds a problem of a property, at the property's place, or at the
// resource's place when the property is absent.
func (b *Body) Refuse(property, message, suggestion string) {
	b.RefuseAt(b.posOf(property), property, message, suggestion)
}

// RefuseAt is Refuse at the place of a part of the property's value.
func (b *Body) RefuseAt(pos Pos, property, message, suggestion string) {
	b.Problems = append(b.Problems, Problem{Pos: pos, ID: b.Ref.String(), Property: property, Message: message, Suggestion: suggestion})
}

// Warn adds a warning of a property. It fails nothing without --strict.
func (b *Body) Warn(property, message, suggestion string) {
	b.WarnAt(b.posOf(property), property, message, suggestion)
}

// WarnAt is Warn at the place of a part of the property's value.
func (b *Body) WarnAt(pos Pos, property, message, suggestion string) {
	b.Warnings = append(b.Warnings, Problem{Pos: pos, ID: b.Ref.String(), Property: property, Message: message, Suggestion: suggestion})
}

// ClaimPath adds an exclusive claim to write a path, at the place of the property
// that declares it.
func (b *Body) ClaimPath(property, path string) {
	b.Claims = append(b.Claims, PathClaim{path, b.posOf(property)})
}

// ReadPath notes that the resource reads a path. It then waits for the resource that
// declares the path, or a directory above it.
func (b *Body) ReadPath(path string) { b.Reads = append(b.Reads, path) }

// posOf returns the place of a property, or of the resource when it is absent.
func (b *Body) posOf(property string) Pos {
	if v, ok := b.Values[property]; ok {
		return v.Pos
	}
	return b.Pos
}
