package excerpt

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
)

// hidden holds the lines of a file that are not shown.
type hidden struct {
	text  *parse.Text
	all   bool // every line is hidden
	lines map[int]bool
}

// findHidden finds the lines of sensitive resources: of every map with a key
// sensitive, whatever it belongs to, and of the anchors that it uses. When defaults
// set sensitive, or the file is not valid YAML, it hides the whole file.
func findHidden(f *parse.File) *hidden {
	h := &hidden{text: &f.Text, lines: map[int]bool{}}
	switch {
	case !strings.Contains(f.Text.All, "sensitive"):
	case f.Root == nil:
		h.all = true
	default:
		v := visitor{hidden: h, sensitive: map[*yaml.Node]bool{}}
		v.findMaps(f.Root, false)
		v.visit(f.Root, false)
		v.hideUpTo(strings.Count(f.Text.All, "\n") + 1)
	}
	return h
}

// visitor walks one file to fill its hidden lines.
type visitor struct {
	*hidden
	sensitive map[*yaml.Node]bool
	last      int  // line of the node before
	inside    bool // that node belongs to a sensitive map
}

// findMaps collects the sensitive maps, and the targets of aliases in them.
func (v *visitor) findMaps(n *yaml.Node, inside bool) {
	if n.Kind == yaml.AliasNode {
		if inside && !v.sensitive[n.Alias] {
			v.sensitive[n.Alias] = true
			v.findMaps(n.Alias, true)
		}
		return
	}
	if n.Kind == yaml.MappingNode {
		for key, value := range parse.Pairs(n) {
			switch {
			case key.Value == "sensitive" && value.Value != "false":
				inside = true
				v.sensitive[n] = true
			case key.Value == schema.Reserved && containsKey(value, "sensitive"):
				v.all = true
			}
		}
	}
	for _, child := range n.Content {
		v.findMaps(child, inside)
	}
}

// containsKey reports whether a key stands anywhere in a node.
func containsKey(n *yaml.Node, name string) bool {
	for key, value := range parse.Pairs(n) {
		if key.Value == name || containsKey(value, name) {
			return true
		}
	}
	return false
}

// visit goes through the nodes in the order of the text. A node reaches up to the
// line before the next node.
func (v *visitor) visit(n *yaml.Node, inside bool) {
	inside = inside || v.sensitive[n]
	v.hideUpTo(n.Line - 1)
	v.last, v.inside = n.Line, inside
	for _, child := range n.Content {
		v.visit(child, inside)
	}
}

// hideUpTo hides the lines of the node before, if it is sensitive.
func (v *visitor) hideUpTo(line int) {
	if !v.inside {
		return
	}
	for n := v.last; n <= max(v.last, line); n++ {
		v.lines[n] = true
	}
}
