package manifests

import (
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// Schema returns the JSON Schema (2020-12) of manifests with resources of the
// given types, for editors.
func Schema(types []model.Type) []byte { return schema.Schema(types) }

// Explain explains a type, a property of a type (TYPE.PROPERTY) or a key of the
// manifest, and for "" manifests in general. The error for an unknown name suggests
// a known one.
func Explain(types []model.Type, name string) (string, error) { return schema.Explain(types, name) }

// Explained returns every name that Explain knows, with its meaning.
func Explained(types []model.Type) []model.Property { return schema.Explained(types) }

// Reference returns the tables of all keys and properties, for the README.
func Reference(types []model.Type) string { return schema.Reference(types) }
