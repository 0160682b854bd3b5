package manifests

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// root walks a whole document: a map of keys, a bare list of entries, or a CCM
// manifest.
func (l *loader) root(n *yaml.Node) {
	switch n.Kind {
	case yaml.SequenceNode:
		l.walkEntries(n)
	case yaml.MappingNode:
		table, m := keys, n
		for key, value := range pairs(n) {
			if key.Value == "ccm" {
				table, m = ccmKeys, l.ccm(n, value)
				break
			}
		}
		if m != nil {
			l.walkKeys(m, table)
		}
	default:
		l.refuse(n, "a manifest is a map or a list of entries, not "+describe(n), `begin with "resources:"`)
	}
}

// ccm checks what stands beside ccm: and returns what is under it.
func (l *loader) ccm(n, under *yaml.Node) *yaml.Node {
	l.base.CCM, l.base.CleanEnv, l.m.CleanEnv = true, true, true
	for key := range pairs(n) {
		if key.Value != "ccm" && !private(key) && !l.notYet(key, "") {
			l.refuse(key, fmt.Sprintf("unknown key %q beside ccm", key.Value), "a CCM manifest has nothing but ccm at its top")
		}
	}
	switch {
	case isNull(under):
		return nil
	case under.Kind != yaml.MappingNode:
		l.refuse(under, "want a map under ccm, got "+describe(under), "")
		return nil
	}
	return under
}

// private says whether a key is one that settle leaves alone.
func private(key *yaml.Node) bool { return strings.HasPrefix(key.Value, "x-") }

func (l *loader) walkKeys(n *yaml.Node, table []model.Property) {
	var entries, defaults, typed, resources *yaml.Node
	for key, value := range pairs(n) {
		p := propertyNamed(table, key.Value)
		switch {
		case p == nil && private(key) && !l.base.CCM:
		case p == nil:
			// what is wrong under a key that is nearly one is said too
			switch meant := l.unknownKey(key, table); {
			case l.vocabularies[meant] != nil:
				typed, resources = key, value
			case meant == "resources" && value.Kind == yaml.SequenceNode && entries == nil:
				entries = value
			}
		case p.Kind == model.Entries:
			entries = value
		case p.Kind == model.Settings:
			defaults = value
		default:
			s := scope{l: l, property: p.Name}
			if v, ok := s.value(p, key, value); ok {
				l.keys[p.Name] = v
			}
		}
	}
	l.setKeys()
	if defaults != nil {
		l.walkDefaults(defaults)
	}
	if typed != nil {
		l.typed(typed, resources)
	}
	switch {
	case entries == nil || isNull(entries):
	case entries.Kind != yaml.SequenceNode:
		l.refuse(entries, "want a list of entries under resources, got "+describe(entries), `begin each entry with a dash: "- exec:"`)
		for key, value := range pairs(entries) {
			if l.vocabularies[key.Value] != nil {
				l.typed(key, value)
			}
		}
	default:
		l.walkEntries(entries)
	}
}

func propertyNamed(table []model.Property, name string) *model.Property {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// setKeys puts the values of the manifest's own keys where they belong.
func (l *loader) setKeys() {
	m := l.m
	m.Name = l.keys["name"].Text
	if m.Name != "" {
		m.Identity = m.Name
	}
	m.Description = l.keys["description"].Text
	m.Parallel = max(1, l.keys["parallel"].Int)
	m.FailFast = l.keys["fail_fast"].Bool || l.keys["fail_on_error"].Bool
	m.CleanEnv = m.CleanEnv || l.keys["clean_env"].Bool
	l.base.CleanEnv = m.CleanEnv
	m.OnMissingState = l.keys["on_missing_state"].Text
	m.PreMessage, m.PostMessage = l.keys["pre_message"].Text, l.keys["post_message"].Text
	for _, v := range l.each("secrets") {
		if strings.Contains(v.Text, "=") {
			at := scope{l: l, property: "secrets"}
			at.refuse(v.Pos, fmt.Sprintf("%q is no name of a variable", v.Text), "write the name only: the value comes from the environment")
		}
		m.Secrets = append(m.Secrets, v.Text)
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
		l.refuse(n, "want a map of types under defaults, got "+describe(n), "write properties under a type: {exec: {cwd: /opt}}")
		return
	}
	for key, value := range pairs(n) {
		v := l.vocabularies[key.Value]
		if v == nil {
			l.unknownType(key)
			continue
		}
		l.defaults[key.Value] = l.readDefaults(v, value)
	}
}
