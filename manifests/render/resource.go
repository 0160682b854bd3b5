package render

import (
	"path/filepath"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// renderResource returns a resource under its name. dir is the directory that
// relative paths in the rendered manifest are relative to.
func renderResource(v *schema.Vocabulary, body *model.Body, dir string) *yaml.Node {
	properties := &yaml.Node{Kind: yaml.MappingNode}
	unused := findUnused(v, body)
	for _, word := range v.Words {
		if read, ok := renderedProperty(v, body, word, dir); ok && !unused[word] {
			kind := v.ByName[word].Kind
			if kind == model.Template {
				word, kind, read = "content", model.Text, read.Items[0]
				if body.Bool("sensitive") {
					read = redactValue(read)
				}
			}
			properties.Content = append(properties.Content, textNode(word, true), renderValue(kind, read))
		}
	}
	name := textNode(escape(body.Name), true)
	const long = 100 // YAML writes longer keys in a form of their own
	if v.Has(body.Name) || body.Name == "<<" || len(body.Name) > long {
		return &yaml.Node{Kind: yaml.MappingNode, Content: append([]*yaml.Node{textNode("name", true), name}, properties.Content...)}
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, flowIfEmpty(properties)}}
}

// renderedProperty returns the value of a property as it is rendered. It returns
// false for a property that is left out.
func renderedProperty(v *schema.Vocabulary, body *model.Body, word, dir string) (model.Value, bool) {
	p := v.ByName[word]
	read, ok := body.Values[word]
	switch filled := body.Named.Placeholders; {
	case word == "name" || word == "for_each" || word == "control": // for_each is unrolled, control becomes when
		return read, false
	case word == "when": // the condition itself may depend on the machine
		read, ok = model.Value{Text: strconv.FormatBool(!body.Off), Quoted: true}, body.Has("when") || body.Has("control")
	case word == "command" && !ok && filled.Each() != nil:
		read, ok = model.Value{Text: filled.Filled, Quoted: true}, filled.Filled != ""
	case word == "content" && usesTemplate(body), p.Kind == model.Template && !usesTemplate(body):
		return read, false
	case p.Kind == model.Refs && read.Default:
		read, ok = dropSelf(body, read)
	}
	if body.Bool("sensitive") && v.IsSensitive(word) && word != "description" {
		read = redactValue(read)
	}
	if p.Path && body.Dir != dir {
		read = makeAbsolute(body.Dir, read)
	}
	return read, ok
}

// usesTemplate reports whether the content of a resource is that of its template: a
// content in defaults does not count beside a template of the resource itself.
func usesTemplate(body *model.Body) bool {
	template, ok := body.Values["template"]
	content, other := body.Values["content"]
	return ok && len(template.Items) == 1 && (!other || content.Default && !template.Default)
}

// keepDir makes a resource of a file in another directory start its commands there
// still. It returns false where the type has no property to say so.
func keepDir(v *schema.Vocabulary, body *model.Body) bool {
	if v.Has("cwd") {
		if !body.Has("cwd") && !body.Has("user") {
			body.Values["cwd"] = model.Value{Text: body.Dir, Quoted: true}
		}
		return true
	}
	return !slices.ContainsFunc(v.Words, func(word string) bool {
		kind := v.ByName[word].Kind
		return body.Has(word) && (kind == model.CommandLine || kind == model.CommandLines)
	})
}

// makeAbsolute makes the paths in a value absolute.
func makeAbsolute(dir string, v model.Value) model.Value {
	if v.Shape == model.List {
		v.Items = slices.Clone(v.Items)
		for i := range v.Items {
			v.Items[i] = makeAbsolute(dir, v.Items[i])
		}
	} else if v.Text != "" && !filepath.IsAbs(v.Text) {
		v.Text = filepath.Join(dir, v.Text)
	}
	return v
}

// findUnused returns the defaults that the type ignores in a resource. It refuses
// or warns of the same properties when the resource gives them itself, so they must
// not be written out.
func findUnused(v *schema.Vocabulary, body *model.Body) map[string]bool {
	own := *body
	own.Values, own.Claims, own.Problems, own.Warnings = map[string]model.Value{}, nil, nil, nil
	hasDefaults := false
	for word, read := range body.Values {
		hasDefaults = hasDefaults || read.Default
		read.Default = false
		own.Values[word] = read
	}
	if !hasDefaults {
		return nil
	}
	v.Decode(&own)
	before := slices.Concat(body.Problems, body.Warnings)
	var words map[string]bool
	for _, p := range slices.Concat(own.Problems, own.Warnings) {
		isSame := func(q model.Problem) bool { return q.Property == p.Property && q.Message == p.Message }
		if body.Values[p.Property].Default && !slices.ContainsFunc(before, isSame) {
			words = entry.Put(words, p.Property, true)
		}
	}
	return words
}

// dropSelf leaves the resource itself out of the references of a default. It
// returns false when no other is left.
func dropSelf(body *model.Body, refs model.Value) (model.Value, bool) {
	list := model.Value{Shape: model.List}
	for _, ref := range refs.Each() {
		if to, _ := model.ParseRef(ref.Text); to.Type != body.Type || to.Name != body.Name && to.Name != body.Text("alias") {
			list.Items = append(list.Items, ref)
		}
	}
	if len(list.Items) == len(refs.Each()) {
		return refs, true
	}
	return list, len(list.Items) > 0
}

// redactValue returns a value with stars in place of its texts.
func redactValue(v model.Value) model.Value {
	const stars = "***"
	pairs := slices.Clone(v.Pairs)
	for i := range pairs {
		pairs[i].Value = model.Value{Text: stars, Quoted: true}
	}
	if len(pairs) > 0 {
		return model.Value{Shape: model.Map, Pairs: pairs}
	}
	return model.Value{Text: stars, Quoted: true}
}
