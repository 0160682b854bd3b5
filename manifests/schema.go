package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// object is a part of a schema; its keys are written in order of the alphabet.
type object = map[string]any

// Schema returns the JSON Schema (2020-12) of manifests with resources of the
// given types, for editors. It accepts whatever Load accepts; Load looks at
// more than a schema can say.
func Schema(types []model.Type) []byte {
	defs := object{
		"text":      object{"type": scalars},
		"line":      object{"type": scalars, "pattern": oneLine},
		"command":   object{"type": scalars, "pattern": `\S`},
		"condition": object{"type": list("string", "boolean"), "pattern": `\S`},
		"code":      orValue(object{"type": "integer", "minimum": 0, "maximum": 255}),
		"ref":       orValue(object{"type": "string", "pattern": `^[^#]+#[^\n]+\n?$`}),
		"value":     object{"type": "string", "pattern": expression},
		"entries":   object{"type": list("array", "null"), "items": ref("entry")},
	}
	entry, defaults := object{}, object{}
	for i := range types {
		v := newVocabulary(&types[i])
		v.define(defs)
		entry[v.Name] = ref(v.Name)
		defaults[v.Name] = object{"anyOf": list(ref(v.Name+".defaults"), object{"type": "null"})}
	}
	defs["entry"] = closed(entry, "minProperties", 1, "maxProperties", 1)
	defs["ccm"] = object{"anyOf": list(closed(keySchemas(ccmKeys)), object{"type": "null"})}
	defs["settings"] = closed(defaults)
	properties := keySchemas(keys)
	properties["ccm"] = described(ref("ccm"), "a CCM manifest; nothing else stands beside it")
	schema := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "settle manifest",
		"description": "what one machine should be like: resources, in the order in which they are applied",
		"$defs":       defs, "type": list("object", "array", "null"), "items": ref("entry"),
		"properties": properties, "patternProperties": object{"^x-": object{}}, "additionalProperties": false,
		"dependentSchemas": object{"ccm": object{"propertyNames": object{"pattern": "^(ccm$|x-)"}}},
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		panic(err) // it is made of maps, lists, texts and numbers
	}
	return b.Bytes()
}

// scalars are what YAML makes of a plain text: settle takes all of it as written.
var scalars = list("string", "number", "boolean")

// oneLine is a text that a block scalar may have given a last newline.
const oneLine = `^[^\n]+\n?$|` + expression

// expression is what may become anything.
const expression = `\$\{[A-Za-z_][A-Za-z0-9_]*\.`

// orValue also accepts a text with an expression in it.
func orValue(schema object) object { return object{"anyOf": list(schema, ref("value"))} }

func list(items ...any) []any { return items }

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

func described(schema object, text string) object {
	return object{"allOf": list(schema), "description": text}
}

// closed is a map with these properties and no others.
func closed(properties object, more ...any) object {
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	for i := 0; i < len(more); i += 2 {
		schema[more[i].(string)] = more[i+1]
	}
	return schema
}

func keySchemas(table []model.Property) object {
	schemas := object{}
	for i := range table {
		schemas[table[i].Name] = propertySchema(&table[i])
	}
	return schemas
}

// define adds what may stand under a type: a list of resources, each under its
// name or with one, or a single resource with a name.
func (v *vocabulary) define(defs object) {
	named, keyed, shared := object{}, object{}, object{}
	for _, word := range v.words {
		defs[v.Name+"."+word] = propertySchema(v.properties[word])
		one := ref(v.Name + "." + word)
		named[word] = one
		if word != "name" {
			keyed[word] = one
		}
		if word != "name" && word != "alias" {
			shared[word] = one
		}
	}
	hasName := object{"required": list("name"), "properties": object{"name": object{"not": object{"type": "object"}}}}
	defs[v.Name+".named"] = closed(named, "required", list("name"))
	defs[v.Name+".properties"] = object{"anyOf": list(closed(keyed), object{"type": "null"})}
	defs[v.Name+".defaults"] = closed(shared)
	defs[v.Name+".resource"] = object{
		"type": "object", "if": hasName, "then": ref(v.Name + ".named"),
		"else": object{
			"minProperties": 1, "maxProperties": 1, "propertyNames": object{"pattern": oneLine},
			"properties":           object{reserved: object{"anyOf": list(ref(v.Name+".defaults"), object{"type": "null"})}},
			"additionalProperties": ref(v.Name + ".properties"),
		},
	}
	defs[v.Name] = object{
		"description": v.Meaning, "type": list("array", "object", "null"), "items": ref(v.Name + ".resource"),
		"if": object{"type": "object"}, "then": ref(v.Name + ".named"),
	}
}

// propertySchema is what a property may hold, with what people may want to know of it.
func propertySchema(p *model.Property) object {
	schema := kindSchema(p)
	schema["description"] = p.Meaning
	if p.Default != "" {
		schema["description"] = fmt.Sprintf("%s (default: %s)", p.Meaning, p.Default)
	}
	var example any
	if err := yaml.Unmarshal([]byte(p.Example), &example); err == nil && example != nil {
		schema["examples"] = list(example)
	}
	return schema
}

func kindSchema(p *model.Property) object {
	switch p.Kind {
	case model.Line, model.Text:
		return object{"allOf": list(ref(map[model.Kind]string{model.Line: "line", model.Text: "text"}[p.Kind]))}
	case model.Bool:
		return orValue(object{"type": "boolean"})
	case model.Int:
		return orValue(object{"type": "integer"})
	case model.Count:
		return orValue(object{"type": "integer", "minimum": 1})
	case model.Duration:
		return object{"anyOf": list(object{"const": 0}, object{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+)$`}, ref("value"))}
	case model.Choice:
		return orValue(object{"enum": choices(p.Choices)})
	case model.Lines, model.PathList:
		return oneOrMore("line")
	case model.Refs:
		return oneOrMore("ref")
	case model.CommandLines:
		return oneOrMore("command")
	case model.CommandLine:
		return object{"anyOf": list(ref("command"), object{"type": "array", "items": ref("text"), "minItems": 1})}
	case model.Codes:
		return orValue(object{"type": "array", "items": ref("code"), "minItems": 1})
	case model.CodesOrTrue:
		return object{"anyOf": list(object{"type": "boolean"}, object{"type": "array", "items": ref("code"), "minItems": 1}, ref("value"))}
	case model.Environment:
		return object{"anyOf": list(
			object{"type": "array", "items": object{"type": "string", "pattern": `^[^=]+=[\s\S]+$`}},
			object{"type": "object", "propertyNames": object{"pattern": "^[^=]+$"}, "additionalProperties": object{"type": scalars, "minLength": 1}}, ref("value"))}
	case model.Entries, model.Settings:
		return object{"allOf": list(ref(map[model.Kind]string{model.Entries: "entries", model.Settings: "settings"}[p.Kind]))}
	case model.Vars:
		return object{"type": list("object", "null"), "propertyNames": object{"pattern": "^[A-Za-z0-9_-]+$"}}
	case model.Condition:
		return object{"allOf": list(ref("condition"))}
	case model.Control:
		return closed(object{"if": ref("condition"), "unless": ref("condition")}, "minProperties", 1)
	case model.TextMap:
		return orValue(object{"type": "object", "additionalProperties": ref("text")})
	}
	return object{"not": object{"type": "null"}}
}

func oneOrMore(def string) object {
	return object{"anyOf": list(ref(def), object{"type": "array", "items": ref(def)})}
}

// choices are words as YAML reads them: true is no text there.
func choices(words []string) []any {
	var all []any
	for _, word := range words {
		var value any
		if err := yaml.Unmarshal([]byte(word), &value); err == nil && value != word {
			all = append(all, value)
		}
		all = append(all, word)
	}
	return all
}
