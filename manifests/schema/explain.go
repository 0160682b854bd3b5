package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model"
)

// Explain returns an explanation of a type, a property of a type or a key of the
// manifest: "exec", "exec.creates", "parallel". For "" it explains manifests
// in general. The error for an unknown name suggests a known one.
func Explain(types []model.Type, path string) (string, error) {
	if path == "" {
		return explainManifest(types), nil
	}
	name, property, dotted := strings.Cut(path, ".")
	var names []string
	for i := range types {
		t := &types[i]
		names = append(names, t.Name)
		if t.Name != name {
			continue
		}
		v := NewVocabulary(t)
		if !dotted {
			return explainType(v), nil
		}
		if p := v.ByName[property]; p != nil {
			return explainProperty(p, t), nil
		}
		return "", errorUnknown(fmt.Sprintf("%s has no property %q", name, property), name+".", Near(property, v.Words, propertySynonyms))
	}
	if p := Find(Keys, name); p != nil && !dotted {
		return explainProperty(p, nil), nil
	}
	if p := Find(CCMKeys, name); p != nil && !dotted {
		return explainProperty(p, nil), nil
	}
	for i := range types { // a property without its type
		if v := NewVocabulary(&types[i]); v.ByName[name] != nil && !dotted {
			return "", errorUnknown(fmt.Sprintf("no type is called %q", path), v.Name+".", name)
		}
	}
	for _, p := range Keys {
		names = append(names, p.Name)
	}
	return "", errorUnknown(fmt.Sprintf("no type is called %q", name), "", Near(name, names, typeSynonyms))
}

// Explained returns every name that Explain knows, with its meaning: the types,
// the keys of a manifest, and the properties as TYPE.PROPERTY.
func Explained(types []model.Type) []model.Property {
	var all []model.Property
	for i := range types {
		all = append(all, model.Property{Name: types[i].Name, Meaning: types[i].Meaning})
	}
	for _, list := range [][]model.Property{Keys, CCMKeys} {
		for _, p := range list {
			if Find(all, p.Name) == nil { // the key of the manifest stands for both
				all = append(all, p)
			}
		}
	}
	for i := range types {
		v := NewVocabulary(&types[i])
		for _, word := range v.Words {
			p := *v.ByName[word]
			p.Name = v.Name + "." + word
			all = append(all, p)
		}
	}
	return all
}

func errorUnknown(message, prefix, meant string) error {
	if meant == "" {
		return fmt.Errorf("%s: %s lists them", message, strings.TrimSpace("settle explain "+strings.TrimSuffix(prefix, ".")))
	}
	return fmt.Errorf("%s; did you mean %q?", message, prefix+meant)
}

func explainManifest(types []model.Type) string {
	var b strings.Builder
	b.WriteString(`A manifest says in YAML what one machine should be like:

  name: web
  resources:
    - exec:
        - unpack:
            command: /usr/bin/tar -xzf app.tar.gz
            creates: /opt/app
        - reload:
            command: systemctl reload httpd
            refreshonly: true
            subscribe: exec#unpack

Resources are applied from top to bottom, each after those that it depends on.
A reference is TYPE#NAME. A file may also be the bare list of entries.

Keys of a manifest

`)
	writeList(&b, Keys)
	b.WriteString("\nTypes\n\n")
	var list []model.Property
	for _, t := range types {
		list = append(list, model.Property{Name: t.Name, Meaning: t.Meaning})
	}
	writeList(&b, list)
	b.WriteString("\nMore: settle explain TYPE, settle explain TYPE.PROPERTY, settle explain KEY\n")
	return b.String()
}

func explainType(v *Vocabulary) string {
	var b strings.Builder
	for _, line := range wrap(v.Name+": "+v.Meaning, 78) {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "\n  - %s:\n      - NAME:\n", v.Name)
	for _, p := range v.Properties[:min(1, len(v.Properties))] {
		b.WriteString(indented(p, "          ") + "\n")
	}
	b.WriteString("\nProperties\n\n")
	writeList(&b, v.Properties)
	b.WriteString("\nProperties of every type\n\n")
	var common []model.Property
	for _, p := range model.Common {
		if Find(v.Properties, p.Name) == nil {
			common = append(common, p)
		}
	}
	writeList(&b, common)
	fmt.Fprintf(&b, "\nMore: settle explain %s.PROPERTY\n", v.Name)
	return b.String()
}

// indented returns a property with its example, as a manifest would show it.
func indented(p model.Property, margin string) string {
	if !strings.Contains(p.Example, "\n") {
		return margin + p.Name + ": " + p.Example
	}
	return margin + p.Name + ":\n" + margin + "  " + strings.ReplaceAll(p.Example, "\n", "\n"+margin+"  ")
}

func writeList(b *strings.Builder, properties []model.Property) {
	for _, p := range properties {
		text := p.Meaning
		if p.Default != "" {
			text += " (default: " + p.Default + ")"
		}
		const width = 60
		for i, line := range wrap(text, width) {
			name := p.Name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "  %-16s %s\n", name, line)
		}
	}
}

func explainProperty(p *model.Property, t *model.Type) string {
	var b strings.Builder
	name := p.Name
	if t != nil {
		name = t.Name + "." + p.Name
	}
	b.WriteString(name + "\n\n")
	for _, line := range wrap(sentence(p.Meaning), 76) {
		b.WriteString("  " + line + "\n")
	}
	for _, paragraph := range strings.Split(p.More, "\n\n") {
		if paragraph == "" {
			continue
		}
		b.WriteString("\n")
		for _, line := range wrap(paragraph, 76) {
			b.WriteString("  " + line + "\n")
		}
	}
	fmt.Fprintf(&b, "\n  value    %s\n", valueOf(p))
	if p.Default != "" {
		fmt.Fprintf(&b, "  default  %s\n", p.Default)
	}
	b.WriteString("\n")
	margin := "  "
	if t != nil {
		fmt.Fprintf(&b, "  - %s:\n      - NAME:\n", t.Name)
		margin = "          "
	}
	b.WriteString(indented(*p, margin) + "\n")
	return b.String()
}

// valueOf describes in a few words the values that a property may have.
func valueOf(p *model.Property) string {
	if p.Kind == model.Choice {
		return Either(p.Choices)
	}
	return p.Kind.String()
}

// sentence returns a meaning as a sentence: with a capital and a full stop.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// wrap breaks a text at its spaces into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Reference returns the tables of all keys and properties, for the README.
func Reference(types []model.Type) string {
	var b strings.Builder
	table := func(title, text string, properties []model.Property) {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n| name | value | default | meaning |\n|---|---|---|---|\n", title, text)
		for _, p := range properties {
			cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
			fallback := ""
			if p.Default != "" {
				fallback = "`" + cell(p.Default) + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, cell(valueOf(&p)), fallback, cell(p.Meaning))
		}
		b.WriteString("\n")
	}
	table("The manifest", "Keys at the top. Others are errors, save those that begin with `x-`: a place for YAML anchors.", Keys)
	table("A CCM manifest", "Keys under `ccm:`.", CCMKeys)
	table("Every type", "Properties of every resource.", model.Common)
	for _, t := range types {
		table(t.Name, sentence(t.Meaning), slices.Clone(t.Properties))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
