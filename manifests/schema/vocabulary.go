// Package schema holds the words of a manifest: the tables of keys and the
// properties of each type, the words of other tools for them, and what follows
// from the tables: the JSON Schema, `settle explain` and the README. It speaks of
// words, never of nodes.
package schema

import "github.com/settle-cm/settle/model"

// Reserved is the name that a resource cannot have: a list of resources may begin
// with their defaults.
const Reserved = "defaults"

// NameProperty is the property that every resource is named by.
var NameProperty = Find(model.Common, "name")

// Vocabulary is a type with every word that its entries may use.
type Vocabulary struct {
	*model.Type
	ByName       map[string]*model.Property // nil for a type that is unknown
	Words        []string                   // names of the properties, those of the type first
	Environments []string                   // names of the properties that hold environment variables
}

// NewVocabulary returns the vocabulary of a type.
func NewVocabulary(t *model.Type) *Vocabulary {
	v := &Vocabulary{Type: t, ByName: map[string]*model.Property{}}
	for _, list := range [][]model.Property{t.Properties, model.Common} {
		for i, p := range list {
			if v.ByName[p.Name] == nil { // a type may give a common property a default of its own
				v.ByName[p.Name] = &list[i]
				v.Words = append(v.Words, p.Name)
				if p.Kind == model.Environment {
					v.Environments = append(v.Environments, p.Name)
				}
			}
		}
	}
	return v
}

// UnknownVocabulary returns the vocabulary of a type that settle does not have.
func UnknownVocabulary(name string) *Vocabulary {
	return &Vocabulary{Type: &model.Type{Name: name}}
}

// Known reports whether settle has the type. The entries of an unknown type are
// still read for their names, so that references to them are not reported too.
func (v *Vocabulary) Known() bool { return v.ByName != nil }

// Has reports whether entries of the type have a property.
func (v *Vocabulary) Has(property string) bool { return v.ByName[property] != nil }

// IsSensitive reports whether a property holds text that `sensitive` keeps out of
// messages: commands, input, content and environment.
func (v *Vocabulary) IsSensitive(property string) bool {
	p := v.ByName[property]
	if p == nil {
		return false
	}
	switch p.Kind {
	case model.Text, model.CommandLine, model.CommandLines, model.Environment, model.TextMap:
		return true
	}
	return false
}

// Types are the vocabularies of all types.
type Types struct {
	ByName map[string]*Vocabulary
	Names  []string // in the order of the table of types
}

// NewTypes returns the vocabularies of types.
func NewTypes(types []model.Type) Types {
	t := Types{ByName: make(map[string]*Vocabulary, len(types))}
	for i := range types {
		t.ByName[types[i].Name] = NewVocabulary(&types[i])
		t.Names = append(t.Names, types[i].Name)
	}
	return t
}

// HaveProperty reports whether any of the types has a property.
func (t Types) HaveProperty(word string) bool {
	for _, v := range t.ByName {
		if v.Has(word) {
			return true
		}
	}
	return false
}
