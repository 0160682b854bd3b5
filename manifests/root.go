package manifests

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// root reads the keys of a whole document: a map of them, a bare list of
// entries, or a CCM manifest. What they hold beside settings is for fill.
func (l *loader) root(f *file) {
	n := f.Root
	if n == nil {
		return
	}
	switch n.Kind {
	case yaml.SequenceNode:
		f.entries = n
	case yaml.MappingNode:
		table, m := schema.Keys, n
		for key, value := range parse.Pairs(n) {
			if key.Value == "ccm" {
				table, m = schema.CCMKeys, l.ccm(n, value)
				break
			}
		}
		if m != nil {
			l.walkKeys(m, table)
		}
	default:
		l.refuse(n, "a manifest is a map or a list of entries, not "+parse.Describe(n), `begin with "resources:"`)
	}
}

// ccm checks what stands beside ccm: and returns what is under it.
func (l *loader) ccm(n, under *yaml.Node) *yaml.Node {
	if l.file.by != nil {
		l.refuse(n, "a CCM manifest cannot be included", "take the ccm key out and move what is under it to the left")
		l.partial = true
		return nil
	}
	l.base.CCM, l.base.CleanEnv, l.m.CleanEnv = true, true, true
	for key := range parse.Pairs(n) {
		if key.Value == "ccm" || private(key) {
			continue
		}
		if u, ok := schema.UnsupportedCCM(key.Value, ""); ok {
			l.refuse(key, u.Message, u.Suggestion)
		} else {
			l.refuse(key, fmt.Sprintf("unknown key %q beside ccm", key.Value), "a CCM manifest has nothing but ccm at its top")
		}
	}
	switch {
	case parse.IsNull(under):
		return nil
	case under.Kind != yaml.MappingNode:
		l.refuse(under, "want a map under ccm, got "+parse.Describe(under), "")
		return nil
	}
	return under
}

// private says whether a key is one that settle leaves alone.
func private(key *yaml.Node) bool { return strings.HasPrefix(key.Value, "x-") }

func (l *loader) walkKeys(n *yaml.Node, table []model.Property) {
	f := l.file
	l.keys = settings{}
	for key, value := range parse.Pairs(n) {
		p := schema.Find(table, key.Value)
		switch {
		case p == nil && private(key) && !l.base.CCM:
		case p == nil:
			// what is wrong under a key that is nearly one is said too
			switch meant := l.refuseWord(key, schema.UnknownKey(key.Value, l.base.CCM, l.typeNames())); {
			case l.vocabularies[meant] != nil:
				f.typed, f.resources = key, value
			case meant == "resources" && value.Kind == yaml.SequenceNode && f.entries == nil:
				f.entries = value
			}
		case !l.included(key), p.Name == "include": // which was read before
		case p.Kind == model.Entries:
			f.entries = value
		case p.Kind == model.Settings:
			f.defaults = value
		case p.Kind == model.Vars: // which was read before everything that may use them
		default:
			s := scope{l: l, property: p.Name}
			l.uses = l.uses[:0]
			if v, ok := s.value(p, key, value); ok {
				l.keys[p.Name] = v
			}
		}
	}
	if f.by == nil {
		l.setKeys()
		if l.copy != nil {
			l.copy.keep(l.keys)
		}
	}
	l.setSecrets()
}

// fill walks what the keys of a file hold: defaults, and entries.
func (l *loader) fill(f *file) {
	l.defaults = map[string]*defaults{}
	if f.defaults != nil {
		l.walkDefaults(f.defaults)
	}
	if f.typed != nil {
		l.typed(f.typed, f.resources)
	}
	switch entries := f.entries; {
	case entries == nil || parse.IsNull(entries):
	case entries.Kind != yaml.SequenceNode:
		l.refuse(entries, "want a list of entries under resources, got "+parse.Describe(entries), `begin each entry with a dash: "- exec:"`)
		for key, value := range parse.Pairs(entries) {
			if l.vocabularies[key.Value] != nil {
				l.typed(key, value)
			}
		}
	default:
		l.walkEntries(entries)
	}
}

// setKeys puts the values of the manifest's keys where they belong.
func (l *loader) setKeys() {
	l.setName()
	m := l.m
	m.Description = l.keys["description"].Text
	m.Parallel = max(1, l.keys["parallel"].Int)
	m.FailFast = l.keys["fail_fast"].Bool || l.keys["fail_on_error"].Bool
	m.CleanEnv = m.CleanEnv || l.keys["clean_env"].Bool
	l.base.CleanEnv = m.CleanEnv
	m.OnMissingState = l.keys["on_missing_state"].Text
	m.PreMessage, m.PostMessage = l.keys["pre_message"].Text, l.keys["post_message"].Text
}

func (l *loader) setName() {
	if name := l.keys["name"].Text; name != "" {
		l.m.Name, l.m.Identity = name, name
	}
}

// setSecrets adds the names of secrets, which every file may have.
func (l *loader) setSecrets() {
	for _, v := range l.each("secrets") {
		if strings.Contains(v.Text, "=") {
			at := scope{l: l, property: "secrets"}
			at.refuse(v.Pos, fmt.Sprintf("%q is no name of a variable", v.Text), "write the name only: the value comes from the environment")
		}
		l.m.Secrets = append(l.m.Secrets, v.Text)
	}
}

// each returns the texts of a key, whether it was written as one or as a list.
func (l *loader) each(key string) []model.Value {
	if v, ok := l.keys[key]; ok {
		return v.Each()
	}
	return nil
}

// walkDefaults reads the defaults of the whole file: a map of properties for
// each type.
func (l *loader) walkDefaults(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		l.refuse(n, "want a map of types under defaults, got "+parse.Describe(n), "write properties under a type: {exec: {cwd: /opt}}")
		return
	}
	for key, value := range parse.Pairs(n) {
		v := l.vocabularies[key.Value]
		if v == nil {
			l.refuseWord(key, schema.UnknownType(key.Value, l.typeNames()))
			continue
		}
		l.defaults[key.Value] = l.readDefaults(v, value)
	}
}

func (l *loader) typeNames() []string {
	var names []string
	for _, t := range l.types {
		names = append(names, t.Name)
	}
	return names
}
