package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// object is a part of a schema. Its keys are written in alphabetical order.
type object = map[string]any

// Schema returns the JSON Schema (2020-12) of manifests with resources of the
// given types, for editors. It accepts every manifest that loads, and also some
// that do not: a schema cannot express all that loading checks.
func Schema(types []model.Type) []byte {
	defs := object{
		"text":      object{"type": scalars},
		"line":      object{"type": scalars, "pattern": oneLine},
		"command":   object{"type": scalars, "pattern": `\S`},
		"condition": object{"type": list("string", "boolean"), "pattern": `\S`},
		"code":      orExpression(object{"type": "integer", "minimum": 0, "maximum": 255}),
		"ref":       orExpression(object{"type": "string", "pattern": `^[^#]+#[^\n]+\n?$`}),
		"value":     object{"type": "string", "pattern": expression},
		"entries":   object{"type": list("array", "null"), "items": ref("entry")},
	}
	entry, defaults := object{}, object{}
	for i := range types {
		v := NewVocabulary(&types[i])
		defineType(defs, v)
		entry[v.Name] = ref(v.Name)
		defaults[v.Name] = object{"anyOf": list(ref(v.Name+".defaults"), object{"type": "null"})}
	}
	defs["entry"] = closed(entry, "minProperties", 1, "maxProperties", 1)
	defs["ccm"] = object{"anyOf": list(closed(describeKeys(CCMKeys)), object{"type": "null"})}
	defs["settings"] = closed(defaults)
	properties := describeKeys(Keys)
	properties["ccm"] = withText(ref("ccm"), "a CCM manifest; nothing else stands beside it")
	properties["data"] = object{"type": list("object", "null"), "description": BesideCCM[0].Meaning}
	schema := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "settle manifest",
		"description": "what one machine should be like: resources, in the order in which they are applied",
		"$defs":       defs, "type": list("object", "array", "null"), "items": ref("entry"),
		"properties": properties, "patternProperties": object{"^x-": object{}}, "additionalProperties": false,
		"dependentSchemas": object{"ccm": object{"propertyNames": object{"pattern": "^((ccm|data|hierarchy|overrides)$|x-)"}}},
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		panic(err) // maps, lists, texts and numbers can always be encoded
	}
	return b.Bytes()
}

// scalars are the types that YAML gives to unquoted texts: settle takes each as it
// is written.
var scalars = list("string", "number", "boolean")

// oneLine matches one line, with the newline that a block scalar may add.
const oneLine = `^[^\n]+\n?$|` + expression

// expression matches an expression, whose value may have any form.
const expression = `\$\{[A-Za-z_][A-Za-z0-9_]*\.|\{\{|\$\{.*(lookup|Data|Facts|Environ)`

// orExpression returns a schema that also accepts a text with an expression in it.
func orExpression(schema object) object { return object{"anyOf": list(schema, ref("value"))} }

func list(items ...any) []any { return items }

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

func withText(schema object, text string) object {
	return object{"allOf": list(schema), "description": text}
}

// closed returns the schema of a map with these properties and no others.
func closed(properties object, more ...any) object {
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	for i := 0; i < len(more); i += 2 {
		schema[more[i].(string)] = more[i+1]
	}
	return schema
}

func describeKeys(table []model.Property) object {
	schemas := object{}
	for i := range table {
		schemas[table[i].Name] = describeProperty(&table[i])
	}
	return schemas
}

// defineType adds the definitions for one type: a list of resources, each under
// its name or with a name property, or a single resource with a name.
func defineType(defs object, v *Vocabulary) {
	named, keyed, shared := object{}, object{}, object{}
	for _, word := range v.Words {
		defs[v.Name+"."+word] = describeProperty(v.ByName[word])
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
			"properties":           object{Reserved: object{"anyOf": list(ref(v.Name+".defaults"), object{"type": "null"})}},
			"additionalProperties": ref(v.Name + ".properties"),
		},
	}
	defs[v.Name] = object{
		"description": v.Meaning, "type": list("array", "object", "null"), "items": ref(v.Name + ".resource"),
		"if": object{"type": "object"}, "then": ref(v.Name + ".named"),
	}
}

// describeProperty returns the schema of a property with its meaning, default and
// example, which editors show.
func describeProperty(p *model.Property) object {
	schema := describeKind(p)
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

// kindSchemas holds the schemas of the kinds that are the same for every property.
var kindSchemas = map[model.Kind]func() object{
	model.Line:     func() object { return allOf("line") },
	model.Text:     func() object { return allOf("text") },
	model.Template: func() object { return allOf("line") },
	model.Bool:     func() object { return orExpression(object{"type": "boolean"}) },
	model.Int:      func() object { return orExpression(object{"type": "integer"}) },
	model.Count:    func() object { return orExpression(object{"type": "integer", "minimum": 1}) },
	model.Lines:    func() object { return oneOrList("line") },
	model.PathList: func() object { return oneOrList("line") },
	model.Refs:     func() object { return oneOrList("ref") },
	model.Duration: func() object {
		return object{"anyOf": list(object{"const": 0}, object{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+)$`}, ref("value"))}
	},
	model.CommandLines: func() object { return oneOrList("command") },
	model.CommandLine: func() object {
		return object{"anyOf": list(ref("command"), object{"type": "array", "items": ref("text"), "minItems": 1})}
	},
	model.Codes: func() object { return orExpression(object{"type": "array", "items": ref("code"), "minItems": 1}) },
	model.CodesOrTrue: func() object {
		return object{"anyOf": list(object{"type": "boolean"}, object{"type": "array", "items": ref("code"), "minItems": 1}, ref("value"))}
	},
	model.Environment: func() object {
		return object{"anyOf": list(
			object{"type": "array", "items": object{"type": "string", "pattern": `^[^=]+=[\s\S]+$`}},
			object{"type": "object", "propertyNames": object{"pattern": "^[^=]+$"}, "additionalProperties": object{"type": scalars, "minLength": 1}}, ref("value"))}
	},
	model.Entries:  func() object { return allOf("entries") },
	model.Settings: func() object { return allOf("settings") },
	model.Vars: func() object {
		return object{"type": list("object", "null"), "propertyNames": object{"pattern": "^[A-Za-z0-9_-]+$"}}
	},
	model.Hierarchy: func() object {
		order := object{"type": "array", "items": object{"type": "string", "pattern": `^[^\n]+$`}, "minItems": 1}
		return object{"anyOf": list(order, closed(object{"order": order, "merge": object{"enum": list("first", "deep")}}, "required", list("order")))}
	},
	model.Overrides: func() object {
		return object{"type": list("object", "null"), "propertyNames": object{"pattern": `^[^\n]+$`}, "additionalProperties": object{"type": list("object", "null")}}
	},
	model.Condition: func() object { return allOf("condition") },
	model.Control: func() object {
		return closed(object{"if": ref("condition"), "unless": ref("condition")}, "minProperties", 1)
	},
	model.TextMap: func() object { return orExpression(object{"type": "object", "additionalProperties": ref("text")}) },
}

// describeKind returns the schema of the values that a property may have.
func describeKind(p *model.Property) object {
	if p.Kind == model.Choice {
		return orExpression(object{"enum": choices(p.Choices)})
	}
	if schema := kindSchemas[p.Kind]; schema != nil {
		return schema()
	}
	return object{"not": object{"type": "null"}}
}

// allOf wraps a reference: a description beside a bare one would be ignored.
func allOf(def string) object { return object{"allOf": list(ref(def))} }

func oneOrList(def string) object {
	return object{"anyOf": list(ref(def), object{"type": "array", "items": ref(def)})}
}

// choices returns words as YAML reads them: it does not read true as a text.
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
