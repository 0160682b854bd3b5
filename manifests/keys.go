package manifests

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/decode"
	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/outline"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// keysOfIncluded are the keys that an included file may have.
var keysOfIncluded = []string{"description", "secrets", "include", "vars", "overrides", "overrides_from", "defaults", "resources"}

// keys are the values of the keys of one file, and the nodes of its resources.
type keys struct {
	values  map[string]model.Value
	section decode.Section
}

// secrets returns the names of secrets that a file gives, as one text or a list.
func (k keys) secrets() []model.Value {
	if v, ok := k.values["secrets"]; ok {
		return v.Each()
	}
	return nil
}

// keyReader reads the keys of one file.
type keyReader struct {
	file     *file
	mainPath string
	table    []model.Property
	env      *eval.Env
	types    schema.Types
	sink     *entry.Sink
}

// readKeys reads the keys of a file: those of a map, or none for a bare list of
// entries. Problems go to the sink.
func readKeys(f *file, mainPath string, env *eval.Env, types schema.Types, sink *entry.Sink) keys {
	k := keys{values: map[string]model.Value{}, section: decode.Section{Section: outline.Section{File: f.File}, Dir: f.dir}}
	r := keyReader{f, mainPath, schema.Keys, env, types, sink}
	switch n := f.Root; {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		k.section.Entries = n
	case n.Kind != yaml.MappingNode:
		f.Refuse(sink, n, "a manifest is a map or a list of entries, not "+parse.Describe(n), `begin with "resources:"`)
	default:
		if under := parse.Lookup(n, "ccm"); under != nil {
			r.table = schema.CCMKeys
			r.checkBesideCCM(n)
			if n = r.checkCCM(under); n == nil {
				return k
			}
		}
		for key, value := range parse.Pairs(n) {
			r.readKey(&k, key, value)
		}
	}
	r.checkSecrets(k)
	return k
}

// checkBesideCCM refuses keys beside ccm.
func (r keyReader) checkBesideCCM(n *yaml.Node) {
	for key := range parse.Pairs(n) {
		if key.Value == "ccm" || isPrivate(key) || schema.Find(schema.BesideCCM, key.Value) != nil {
			continue
		}
		u, ok := schema.UnsupportedCCM(key.Value, "")
		if !ok {
			u = schema.Unknown{Message: fmt.Sprintf("unknown key %q beside ccm", key.Value), Suggestion: "a CCM manifest has ccm, data, hierarchy and overrides at its top"}
		}
		r.file.Refuse(r.sink, key, u.Message, u.Suggestion)
	}
}

// checkCCM returns the map under ccm, nil for none.
func (r keyReader) checkCCM(under *yaml.Node) *yaml.Node {
	switch {
	case parse.IsNull(under):
		return nil
	case under.Kind != yaml.MappingNode:
		r.file.Refuse(r.sink, under, "want a map under ccm, got "+parse.Describe(under), "")
		return nil
	}
	return under
}

// isPrivate reports whether settle ignores a key: a place for YAML anchors.
func isPrivate(key *yaml.Node) bool { return strings.HasPrefix(key.Value, "x-") }

// isCCM reports whether the keys are those under ccm.
func (r keyReader) isCCM() bool { return &r.table[0] == &schema.CCMKeys[0] }

// readKey reads one key.
func (r keyReader) readKey(k *keys, key, value *yaml.Node) {
	p := schema.Find(r.table, key.Value)
	switch {
	case p == nil && isPrivate(key) && !r.isCCM():
	case p == nil:
		r.refuseUnknown(k, key, value)
	case r.file.by != nil && !slices.Contains(keysOfIncluded, key.Value):
		r.file.Refuse(r.sink, key, fmt.Sprintf("%q belongs in the manifest that includes this file", key.Value), "move it to "+r.mainPath)
	case p.Kind == model.Entries:
		k.section.Entries = value
	case p.Kind == model.Settings:
		k.section.Defaults = value
	case isReadFirst(p):
	default:
		if v, ok := r.readValue(p, key, value); ok {
			k.values[p.Name] = v
		}
	}
}

// isReadFirst reports whether a key is read before everything that may use it.
func isReadFirst(p *model.Property) bool {
	return p.Kind == model.Vars || p.Kind == model.Hierarchy || p.Kind == model.Overrides || p.Name == "include" || p.Name == "overrides_from"
}

// readValue reads the value of a key, with values in place of its expressions.
func (r keyReader) readValue(p *model.Property, key, value *yaml.Node) (model.Value, bool) {
	v, _, ok := r.env.Read(eval.Frame{File: r.file.File, Subject: entry.Subject{Property: p.Name}}, p, key, value)
	return v, ok
}

// refuseUnknown reports an unknown key. The nodes below it are still read where its
// meaning is clear, so that the mistakes there are reported too.
func (r keyReader) refuseUnknown(k *keys, key, value *yaml.Node) {
	u := schema.UnknownKey(key.Value, r.isCCM(), r.types.Names)
	r.file.Refuse(r.sink, key, u.Message, u.Suggestion)
	switch {
	case r.types.ByName[u.Meant] != nil:
		k.section.TypeKey, k.section.Typed = key, value
	case u.Meant == "resources" && value.Kind == yaml.SequenceNode && k.section.Entries == nil:
		k.section.Entries = value
	}
}

// checkSecrets refuses NAME=VALUE: the value of a secret must not be written down.
func (r keyReader) checkSecrets(k keys) {
	for _, v := range k.secrets() {
		if strings.Contains(v.Text, "=") {
			s := entry.Subject{Property: "secrets"}
			r.sink.Refuse(s.Problem(v.Pos, fmt.Sprintf("%q is no name of a variable", v.Text), "write the name only: the value comes from the environment"))
		}
	}
}

// apply sets the fields of a manifest that keys say.
func (k keys) apply(m *model.Manifest) {
	if name := k.values["name"].Text; name != "" {
		m.Name, m.Identity = name, name
	}
	m.Description = k.values["description"].Text
	m.Parallel = max(1, k.values["parallel"].Int)
	m.FailFast = k.values["fail_fast"].Bool || k.values["fail_on_error"].Bool
	m.CleanEnv = m.CleanEnv || k.values["clean_env"].Bool
	m.OnMissingState = k.values["on_missing_state"].Text
	m.PreMessage, m.PostMessage = k.values["pre_message"].Text, k.values["post_message"].Text
}
