package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
	"github.com/settle-cm/settle/model/value"
)

// Render returns a manifest with all its values put in, as YAML that loads
// again: its resources one by one, with their properties as they are after
// defaults, those of included files and of for_each too. Secrets are ***, and so
// is what a sensitive resource runs, feeds and sets. There is no text exactly
// when there is a problem.
func Render(src Source, types []model.Type) (text []byte, problems, warnings model.Problems) {
	l := newLoader(src, types)
	l.copy = &rendering{dir: src.Dir}
	l.read()
	for _, pos := range l.copy.moved {
		l.warning(model.Problem{Pos: pos, Message: "its commands start in the directory of this file; what is rendered starts them in that of the manifest", Suggestion: "write whole paths in them"})
	}
	text = l.copy.text(l)
	e := l.excerpts()
	problems, warnings = e.of(l.sink.Problems().Sort()), e.of(l.sink.Warnings().Sort())
	if len(problems) > 0 {
		return nil, problems, warnings
	}
	return text, nil, warnings
}

// rendering collects the copy of a manifest while it is read.
type rendering struct {
	dir     string // that relative paths in the copy are relative to
	keys    settings
	moved   []model.Pos  // resources whose commands start elsewhere now
	entries []*yaml.Node // a type with its resources each
	mask    *secret.Redactor
	lossy   bool // not everything could be written as it is
}

// resource adds a resource as its type has read it.
func (r *rendering) resource(v *schema.Vocabulary, body *model.Body) {
	properties := &yaml.Node{Kind: yaml.MappingNode}
	if body.Dir != r.dir {
		r.move(v, body)
	}
	sensitive, idle := body.Bool("sensitive"), idle(v, body)
	for _, word := range v.Words {
		read, ok := body.Values[word]
		if filled := body.Named.Placeholders; word == "command" && !ok && filled.Each() != nil {
			read, ok = model.Value{Text: filled.Filled, Quoted: true}, filled.Filled != ""
		}
		if word == "when" {
			read, ok = decided(body)
		}
		p := v.ByName[word]
		if p.Kind == model.Refs && read.Default {
			read, ok = others(body, read)
		}
		if !ok || word == "name" || word == "for_each" || word == "control" || idle[word] {
			continue
		}
		if sensitive && v.IsSensitive(word) && word != "description" {
			read = hush(read)
		}
		if p.Path && body.Dir != r.dir {
			read = inDir(body.Dir, read)
		}
		properties.Content = append(properties.Content, textNode(word, true), render(p.Kind, read))
	}
	entry := &yaml.Node{Kind: yaml.MappingNode}
	name := textNode(escaped(body.Name), true)
	const long = 100 // YAML has keys of its own form for names that are longer
	if v.ByName[body.Name] != nil || body.Name == "<<" || len(body.Name) > long {
		entry.Content = append([]*yaml.Node{textNode("name", true), name}, properties.Content...)
	} else {
		if len(properties.Content) == 0 {
			properties.Style = yaml.FlowStyle
		}
		entry.Content = []*yaml.Node{name, properties}
	}
	if last := len(r.entries) - 1; last >= 0 && r.entries[last].Content[0].Value == v.Name {
		under := r.entries[last].Content[1]
		under.Content = append(under.Content, entry)
		return
	}
	r.entries = append(r.entries, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		textNode(v.Name, true), {Kind: yaml.SequenceNode, Content: []*yaml.Node{entry}},
	}})
}

// move keeps a resource of a file in another directory where it is: a default
// working directory is written out. Where that is not possible, it is noted.
func (r *rendering) move(v *schema.Vocabulary, body *model.Body) {
	if v.ByName["cwd"] == nil {
		for _, word := range v.Words {
			p := v.ByName[word]
			if body.Has(word) && (p.Kind == model.CommandLine || p.Kind == model.CommandLines) {
				r.moved = append(r.moved, body.Pos)
				return
			}
		}
	} else if !body.Has("cwd") && !body.Has("user") {
		body.Values["cwd"] = model.Value{Text: body.Dir, Quoted: true}
	}
}

// inDir makes paths absolute.
func inDir(dir string, v model.Value) model.Value {
	if v.Shape == model.List {
		v.Items = slices.Clone(v.Items)
		for i := range v.Items {
			v.Items[i] = inDir(dir, v.Items[i])
		}
	} else if v.Text != "" && !filepath.IsAbs(v.Text) {
		v.Text = filepath.Join(dir, v.Text)
	}
	return v
}

// decided is what came of a resource's conditions.
func decided(body *model.Body) (model.Value, bool) {
	return model.Value{Text: strconv.FormatBool(!body.Off), Quoted: true}, body.Has("when") || body.Has("control")
}

// idle returns the defaults that mean nothing to a resource: its type passes over
// them in silence, but not over properties of the resource's own.
func idle(v *schema.Vocabulary, body *model.Body) map[string]bool {
	own := *body
	own.Values, own.Claims, own.Problems, own.Warnings = settings{}, nil, nil, nil
	defaults := false
	for word, read := range body.Values {
		defaults = defaults || read.Default
		read.Default = false
		own.Values[word] = read
	}
	if !defaults {
		return nil
	}
	v.Decode(&own)
	var words map[string]bool
	for _, p := range slices.Concat(own.Problems, own.Warnings) {
		said := func(q model.Problem) bool { return q.Property == p.Property && q.Message == p.Message }
		if body.Values[p.Property].Default && !slices.ContainsFunc(slices.Concat(body.Problems, body.Warnings), said) {
			words = with(words, p.Property)
		}
	}
	return words
}

// others leaves the resource itself out of what a default refers to.
func others(body *model.Body, refs model.Value) (model.Value, bool) {
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

// hush returns a value with stars for its texts.
func hush(v model.Value) model.Value {
	pairs := slices.Clone(v.Pairs)
	for i := range pairs {
		pairs[i].Value = model.Value{Text: "***", Quoted: true}
	}
	if len(pairs) > 0 {
		return model.Value{Shape: model.Map, Pairs: pairs}
	}
	return model.Value{Text: "***", Quoted: true}
}

// text writes the copy.
func (r *rendering) text(l *loader) []byte {
	if l.sink.Count() > 0 {
		return nil
	}
	r.mask, _ = secret.New(l.allSecrets())
	table := schema.Keys
	if l.base.CCM {
		table = schema.CCMKeys
	}
	top := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, n *yaml.Node) { top.Content = append(top.Content, textNode(key, true), n) }
	for i := range table {
		p := &table[i]
		v, ok := r.keys[p.Name]
		switch {
		case p.Kind == model.Entries:
			list := &yaml.Node{Kind: yaml.SequenceNode, Content: r.entries}
			if len(r.entries) == 0 {
				list.Style = yaml.FlowStyle
			}
			add(p.Name, list)
		case p.Name == "secrets" && len(l.m.Secrets) > 0:
			add(p.Name, render(model.Lines, lines(l.m.Secrets)))
		case ok && p.Name != "secrets" && p.Name != "include":
			add(p.Name, render(p.Kind, v))
		}
	}
	if l.base.CCM {
		top = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("ccm", true), top}}
	}
	if r.hide(top); r.lossy {
		l.warning(model.Problem{Pos: model.Pos{File: l.src.Path}, Message: "a value has bytes that are not UTF-8, which YAML cannot hold: they are replaced in what is rendered"})
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		l.problem(model.Problem{Pos: model.Pos{File: l.src.Path}, Message: fmt.Sprintf("write it as YAML: %v", err)})
		return nil
	}
	return b.Bytes()
}

// lines is a list of texts, each once.
func lines(texts []string) model.Value {
	list := model.Value{Shape: model.List}
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			list.Items = append(list.Items, model.Value{Text: text, Quoted: true})
		}
	}
	return list
}

// hide takes secrets out of every text, and what YAML cannot hold.
func (r *rendering) hide(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		text := r.mask.Redact(n.Value)
		if !utf8.ValidString(text) { // as a value of the environment may be
			text, r.lossy = strings.ToValidUTF8(text, "\uFFFD"), true
		}
		if text != n.Value {
			*n = *textNode(text, true)
		}
	}
	for _, child := range n.Content {
		r.hide(child)
	}
}

// render returns a value as it would be written in a manifest.
func render(kind model.Kind, v model.Value) *yaml.Node {
	switch kind {
	case model.Environment, model.TextMap:
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, p := range v.Pairs {
			m.Content = append(m.Content, textNode(p.Key, true), textNode(escaped(p.Value.Text), true))
		}
		return flowing(m)
	case model.AnyValue:
		return renderAny(v)
	case model.Bool, model.Int, model.Count, model.Codes, model.CodesOrTrue:
		if v.Shape != model.List {
			return textNode(v.Text, false)
		}
	}
	if v.Shape == model.List {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items {
			list.Content = append(list.Content, render(under(kind), item))
		}
		return flowing(list)
	}
	text := v.Text
	if v.Placeholders.Each() != nil {
		text = v.Placeholders.Filled
	}
	return textNode(escaped(text), v.Quoted)
}

// under is the kind of an item in a list of a kind.
func under(kind model.Kind) model.Kind {
	if kind == model.Codes || kind == model.CodesOrTrue {
		return model.Int
	}
	return model.Text
}

// flowing writes what is empty as such.
func flowing(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func renderAny(v model.Value) *yaml.Node {
	switch v.Shape {
	case model.List:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items {
			list.Content = append(list.Content, renderAny(item))
		}
		return flowing(list)
	case model.Map:
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, p := range v.Pairs {
			m.Content = append(m.Content, textNode(p.Key, true), renderAny(p.Value))
		}
		return flowing(m)
	}
	if !v.Quoted && v.Text == "" {
		return textNode("null", false)
	}
	return textNode(escaped(v.Text), v.Quoted)
}

// escaped is a text that means itself, also where it looks like an expression.
func escaped(text string) string {
	if !value.Has(text) {
		return text
	}
	return value.Escape(text)
}

// simpleText is what means itself to every reader of YAML when it begins with a
// letter or a slash and is no word that one of them knows.
var simpleText = entry.Pattern(`^[A-Za-z/.$][A-Za-z0-9_/.$=+@%^~-]*([ ,:;()]?[A-Za-z0-9_/.$=+@%^~#"'{}\[\]&|<>*-]+)*$`)

// textNode returns a text as a scalar: as it stands where it was not quoted and
// need not be, and else in the simplest form that keeps it a text.
func textNode(text string, quoted bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if !quoted {
		if out, err := yaml.Marshal(&bare); err == nil && string(out) == text+"\n" {
			return n
		}
	}
	n.Tag = "!!str" // what YAML would quote by itself is quoted as what was quoted before
	switch {
	case commanding().MatchString(text):
		n.Style = yaml.DoubleQuotedStyle
	case text != "" && len(text) < 200 && bare.ShortTag() == "!!str" && simpleText().MatchString(text) && !slices.Contains(oldWords, strings.ToLower(text)):
	case strings.Contains(text, "\n") && blockable(text):
		n.Style = yaml.LiteralStyle
	default:
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// commanding finds what pipelines take for a command in the output of a step, if
// it begins a line or stands in one that is not escaped.
var commanding = entry.Pattern(`(^|\n)[ \t]*::|##\[`)

// oldWords are bools to older readers of YAML.
var oldWords = []string{"y", "n", "yes", "no", "on", "off"}

var unblockable = regexp.MustCompile(`^[ \t\n]|[ \t]\n|[ \t]$|\n\n$|[^\n\x20-\x7E\x{A1}-\x{2027}\x{202A}-\x{D7FF}\x{E000}-\x{FEFE}]`)

// blockable says whether a text can be written as a block of lines.
func blockable(text string) bool { return !unblockable.MatchString(text) }

// keep takes over the keys of the manifest's own file.
func (r *rendering) keep(keys settings) { r.keys = maps.Clone(keys) }
