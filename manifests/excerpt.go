package manifests

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
)

// excerpts keeps secrets out of what is said, and adds to it the lines that it
// is about, where they may be shown.
type excerpts struct {
	*loader
	mask    *secret.Redactor
	secrets []string         // that it hides
	veils   map[string]*veil // of the files that something is said of, by path
}

func (l *loader) excerpts() excerpts {
	e := excerpts{loader: l, veils: map[string]*veil{}}
	if l.sink.Count()+len(l.sink.Warnings()) == 0 {
		return e
	}
	e.secrets = l.allSecrets()
	e.mask, _ = secret.New(e.secrets)
	return e
}

// allSecrets returns the values of secrets from wherever they are known.
func (l *loader) allSecrets() []string { return append(l.secretValues(), l.m.SecretValues...) }

// secretValues returns the values that settle's environment gives to the names
// of secrets. Where the manifest is in disorder, so may be the key that names
// them: then every word that stands under one of that name is taken for a name.
func (l *loader) secretValues() []string {
	names := slices.Clone(l.m.Secrets)
	if l.sink.Count() > 0 {
		for _, f := range l.files {
			for _, block := range secretsKey().FindAllString(f.Text.All, -1) {
				names = append(names, variableName().FindAllString(block, -1)...)
			}
		}
	}
	var values []string
	for _, pair := range l.src.Environ {
		if name, value, ok := strings.Cut(pair, "="); ok && slices.Contains(names, name) {
			values = append(values, value)
		}
	}
	return values
}

var (
	secretsKey   = entry.Pattern(`(?m)(?:^|[{,])[ ]*["']?secrets["']?[ ]*:.*(?:\n(?:[-#\[\],]|[ ]+|$).*)*`)
	variableName = entry.Pattern(`[A-Za-z_][A-Za-z0-9_]*`)
)

// of returns problems without secrets, and with their lines.
func (e *excerpts) of(problems model.Problems) model.Problems {
	for i := range problems {
		p := &problems[i]
		if v := e.veil(p.File); p.Line > 0 && !v.blind && !v.lines[p.Line] {
			p.Excerpt = e.excerpt(v.text, p.Pos)
		}
		for _, text := range []*string{&p.ID, &p.Property, &p.Message, &p.Suggestion} {
			*text = e.mask.Redact(clip(*text, e.secrets))
		}
	}
	return problems
}

// clip hides what there is of a secret before an ellipsis: a mask knows whole
// ones only.
func clip(text string, secrets []string) string {
	const ellipsis, stars = "…", "***"
	for from := 0; ; {
		at := strings.Index(text[from:], ellipsis)
		if at < 0 {
			return text
		}
		at += from
		if n := beginning(text[:at], secrets); n > 0 {
			text = text[:at-n] + stars + text[at:]
			at += len(stars) - n
		}
		from = at + len(ellipsis)
	}
}

// beginning returns how many bytes at a text's end are the beginning of a secret.
func beginning(text string, secrets []string) int {
	const least = 4 // fewer tell nothing, and may be anything
	most := 0
	for _, whole := range secrets {
		whole = strings.TrimSpace(whole)
		quoted := strconv.Quote(whole)
		for _, spelled := range []string{whole, quoted[1 : len(quoted)-1]} {
			for n := min(len(spelled), len(text)); n >= max(least, most+1); n-- {
				if strings.HasSuffix(text, spelled[:n]) {
					most = n
				}
			}
		}
	}
	return most
}

// excerpt cuts a line in two. A secret that the cut would go through, so that
// neither half is known for one, keeps the line from being shown, and so does
// its length.
func (e *excerpts) excerpt(text *parse.Text, pos model.Pos) model.Excerpt {
	line := text.Line(pos.Line)
	if len(line) > entry.MaxLine {
		return model.Excerpt{}
	}
	rest := parse.From(line, pos.Column)
	before := line[:len(line)-len(rest)]
	if utf8.RuneCountInString(before) != pos.Column-1 {
		return model.Excerpt{} // the place is behind the line's end
	}
	x := model.Excerpt{Before: e.mask.Redact(before), From: e.mask.Redact(rest)}
	if x.Before+x.From != e.mask.Redact(line) {
		return model.Excerpt{}
	}
	return x
}

// veil returns the veil of a file of the manifest; all of a file that is none
// is behind it.
func (e *excerpts) veil(path string) *veil {
	if v := e.veils[path]; v != nil {
		return v
	}
	v := &veil{blind: true}
	for _, f := range e.files {
		if f.Path == path {
			v = newVeil(f)
		}
	}
	e.veils[path] = v
	return v
}

// newVeil finds the lines that sensitive resources stand on: every map that says
// sensitive, whatever it belongs to, and what it takes over by aliases. Of
// defaults it cannot be told what they are for, nor of a text that is no YAML.
func newVeil(f *file) *veil {
	v := &veil{text: &f.Text, sensitive: map[*yaml.Node]bool{}, lines: map[int]bool{}}
	switch {
	case !strings.Contains(f.Text.All, "sensitive"):
	case f.Root == nil:
		v.blind = true
	default:
		v.find(f.Root, false)
		v.visit(f.Root, false)
		v.upTo(strings.Count(f.Text.All, "\n") + 1)
	}
	return v
}

// veil marks the lines of sensitive maps.
type veil struct {
	text      *parse.Text
	sensitive map[*yaml.Node]bool
	blind     bool // nobody knows which lines those are
	lines     map[int]bool
	last      int  // the line of the node before
	inside    bool // that node belongs to a sensitive map
}

// find collects the sensitive maps, and the targets of aliases in them.
func (v *veil) find(n *yaml.Node, inside bool) {
	if n.Kind == yaml.AliasNode {
		if inside && !v.sensitive[n.Alias] {
			v.sensitive[n.Alias] = true
			v.find(n.Alias, true)
		}
		return
	}
	if n.Kind == yaml.MappingNode {
		for key, value := range parse.Pairs(n) {
			switch {
			case key.Value == "sensitive" && value.Value != "false":
				inside = true
				v.sensitive[n] = true
			case key.Value == schema.Reserved && says(value, "sensitive"):
				v.blind = true
			}
		}
	}
	for _, child := range n.Content {
		v.find(child, inside)
	}
}

// says whether a key stands anywhere in a node.
func says(n *yaml.Node, key string) bool {
	for k, value := range parse.Pairs(n) {
		if k.Value == key || says(value, key) {
			return true
		}
	}
	return false
}

// visit goes through the nodes in the order of the text. A node reaches up to
// the line before the next one's.
func (v *veil) visit(n *yaml.Node, inside bool) {
	inside = inside || v.sensitive[n]
	v.upTo(n.Line - 1)
	v.last, v.inside = n.Line, inside
	for _, child := range n.Content {
		v.visit(child, inside)
	}
}

// upTo marks the lines of the node before.
func (v *veil) upTo(line int) {
	if !v.inside {
		return
	}
	for n := v.last; n <= max(v.last, line); n++ {
		v.lines[n] = true
	}
}
