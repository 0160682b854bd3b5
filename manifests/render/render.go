// Package render writes the entries of a manifest as a manifest again: with all
// values put in, as YAML or JSON that loads to the same resources. Secrets in it are
// redacted, and so are the sensitive properties of sensitive resources.
package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
)

// Input is a manifest to render.
type Input struct {
	Path     string // for messages
	Dir      string // that relative paths in the rendered manifest are relative to
	CCM      bool
	Keys     map[string]model.Value // of the manifest itself
	Secrets  []string               // names of secrets of all files
	Redacted []string               // values of secrets
	Bodies   []model.Body           // of the resources
	Types    schema.Types
	Origins  []Origin // of the variables; nil where all have their defaults or given values
}

// Origin says where the value of a variable came from.
type Origin struct{ Variable, From string }

// YAML returns the manifest, nil after reporting why it cannot be written.
// Warnings go to the sink too.
func YAML(in Input, sink *entry.Sink) []byte {
	top := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, n *yaml.Node) { top.Content = append(top.Content, textNode(key, true), n) }
	table := schema.Keys
	if in.CCM {
		table = schema.CCMKeys
	}
	for i := range table {
		p := &table[i]
		v, ok := in.Keys[p.Name]
		switch {
		case p.Kind == model.Entries:
			add(p.Name, renderEntries(in, sink))
		case p.Name == "secrets" && len(in.Secrets) > 0:
			add(p.Name, renderValue(model.Lines, listOnce(in.Secrets)))
		case ok && p.Name != "secrets" && p.Name != "include":
			add(p.Name, renderValue(p.Kind, v))
		}
	}
	if in.CCM {
		top = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("ccm", true), top}}
	}
	if len(in.Origins) > 0 {
		top.Content = append(top.Content, textNode("x-variables", true), renderOrigins(in.Origins))
	}
	redactor, _ := secret.New(in.Redacted)
	if !redactTree(top, redactor) {
		sink.Warn(model.Problem{Pos: model.Pos{File: in.Path}, Message: "a value has bytes that are not UTF-8, which YAML cannot hold: they are replaced in what is rendered"})
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		sink.Refuse(model.Problem{Pos: model.Pos{File: in.Path}, Message: fmt.Sprintf("write it as YAML: %v", err)})
		return nil
	}
	return b.Bytes()
}

// renderEntries returns the list of entries: one for each run of resources of a type.
func renderEntries(in Input, sink *entry.Sink) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range in.Bodies {
		body := &in.Bodies[i]
		v := in.Types.ByName[body.Type]
		if body.Dir != in.Dir && !keepDir(v, body) {
			sink.Warn(model.Problem{Pos: body.Pos, Message: "its commands start in the directory of this file; what is rendered starts them in that of the manifest", Suggestion: "write whole paths in them"})
		}
		rendered := renderResource(v, body, in.Dir)
		if last := len(list.Content) - 1; last >= 0 && list.Content[last].Content[0].Value == v.Name {
			under := list.Content[last].Content[1]
			under.Content = append(under.Content, rendered)
			continue
		}
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			textNode(v.Name, true), {Kind: yaml.SequenceNode, Content: []*yaml.Node{rendered}},
		}})
	}
	return flowIfEmpty(list)
}

// renderOrigins returns a map from variables to the origins of their values. It stands
// under a key that loading ignores.
func renderOrigins(origins []Origin) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, o := range origins {
		m.Content = append(m.Content, textNode(o.Variable, true), textNode(o.From, true))
	}
	return m
}

// listOnce returns texts as a list, each once.
func listOnce(texts []string) model.Value {
	list := model.Value{Shape: model.List}
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			list.Items = append(list.Items, model.Value{Text: text, Quoted: true})
		}
	}
	return list
}

// redactTree redacts secrets in every text of a tree, and replaces bytes that YAML
// cannot hold. It returns false when there were such bytes.
func redactTree(n *yaml.Node, redactor *secret.Redactor) bool {
	valid := true
	if n.Kind == yaml.ScalarNode {
		text := redactor.Redact(n.Value)
		if !utf8.ValidString(text) { // a value of the environment may hold any bytes
			text, valid = strings.ToValidUTF8(text, "\uFFFD"), false
		}
		if text != n.Value {
			*n = *textNode(text, true)
		}
	}
	for _, child := range n.Content {
		valid = redactTree(child, redactor) && valid
	}
	return valid
}
