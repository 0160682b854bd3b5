package manifests

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

const (
	// maxDepth is how deep lists and maps may be nested.
	maxDepth = 100
	// minAliased and maxAliased bound how many values all aliases of a manifest
	// may stand for; between them it is ten for each value that is written out.
	minAliased, maxAliased = 500_000, 10_000_000
	// maxValues is how many values may be written out: a hundred for each of
	// ten thousand resources.
	maxValues = 1_000_000
)

// sound checks the tree for what a walk over it cannot see (keys given twice)
// or survive (aliases of themselves, aliases of aliases of aliases). It says
// whether a walk is safe.
func (l *loader) sound(root *yaml.Node) bool {
	a := audit{l: l, sizes: map[*yaml.Node]int{}, written: l.written, aliased: l.aliased}
	a.visit(root, 1)
	l.written, l.aliased = a.written, a.aliased
	if !a.stop && a.aliased > min(max(minAliased, 10*a.written), maxAliased) {
		a.refuse(a.largest, "too many aliases: they stand for more values than a manifest may have", "")
	}
	return !a.stop
}

// audit visits every node once.
type audit struct {
	l       *loader
	sizes   map[*yaml.Node]int // of what anchors stand for, aliases in them counted out
	written int                // nodes visited, also of the files before
	aliased int                // nodes that aliases stand for, also there
	largest *yaml.Node         // the alias that stands for most
	most    int
	stop    bool // a walk is not safe

	line, column, offset int // of the node that rest was asked for last
}

func (a *audit) refuse(n *yaml.Node, message, suggestion string) {
	a.stop = true
	a.l.refuse(n, message, suggestion)
}

// visit returns how many values a node is, with those its aliases stand for.
func (a *audit) visit(n *yaml.Node, depth int) int {
	if a.stop {
		return 0
	}
	a.written++
	switch {
	case depth > maxDepth:
		a.refuse(n, fmt.Sprintf("nested deeper than %d levels", maxDepth), "")
		return 0
	case a.written > maxValues:
		a.refuse(n, "more than 1,000,000 values", "split it into several manifests")
		return 0
	}
	if n.Kind == yaml.AliasNode {
		return a.alias(n)
	}
	if n.Style&yaml.TaggedStyle != 0 || a.l.file.text.marks && n.Kind == yaml.ScalarNode {
		a.tag(n)
	}
	if n.Kind == yaml.MappingNode {
		a.keys(n)
	}
	size := 1
	for _, child := range n.Content {
		size += a.visit(child, depth+1)
	}
	if n.Anchor != "" {
		a.sizes[n] = size
	}
	return size
}

// tag refuses what YAML takes off a value: without a word "! grep x" would
// become its opposite, "grep x". Only that a text is a text may be said.
func (a *audit) tag(n *yaml.Node) {
	tag := n.Tag
	if n.Style&yaml.TaggedStyle == 0 {
		rest := a.rest(n)
		if n.Anchor != "" {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, "&"+n.Anchor), " ")
		}
		if !strings.HasPrefix(rest, "!") {
			return
		}
		tag = "!"
	}
	if n.Kind != yaml.ScalarNode || tag != "!!str" {
		a.l.refuse(n, fmt.Sprintf("the tag %s means nothing in a manifest", tag), `leave it out, or quote a value that begins with "!"`)
	}
}

// rest returns what stands in the line from a node on. A line may be the whole
// text, so it goes on from the node before where that is possible.
func (a *audit) rest(n *yaml.Node) string {
	if n.Line != a.line || n.Column < a.column {
		a.line, a.column, a.offset = n.Line, 1, 0
	}
	line := a.l.file.text.line(n.Line)
	rest := from(line[min(a.offset, len(line)):], 1+n.Column-a.column)
	a.column, a.offset = n.Column, len(line)-len(rest)
	return rest
}

// alias counts what an alias stands for. An anchor that was not counted yet is
// one that holds the alias itself.
func (a *audit) alias(n *yaml.Node) int {
	size, ok := a.sizes[n.Alias]
	if !ok {
		a.refuse(n, fmt.Sprintf("the alias *%s stands inside what it stands for", n.Value), "")
		return 0
	}
	const enough = 1 << 40 // keeps sums from overflowing
	a.aliased = min(a.aliased+size, enough)
	if size > a.most {
		a.largest, a.most = n, size
	}
	return min(size, enough)
}

// keys checks that the keys of a map are texts, each given once, and that what
// is merged into it are maps.
func (a *audit) keys(n *yaml.Node) {
	const few = 16 // comparing is faster than hashing up to here
	var first map[string]*yaml.Node
	if len(n.Content) > 2*few {
		first = make(map[string]*yaml.Node, len(n.Content)/2)
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := target(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			a.l.refuse(key, "a key must be a text, not "+describe(key), `quote a value that begins with "{" or "["`)
			continue
		}
		if isMerge(n.Content[i]) {
			a.merged(n.Content[i+1])
		}
		earlier := first[key.Value]
		if first == nil {
			for j := 0; j < i; j += 2 {
				if k := target(n.Content[j]); k.Kind == yaml.ScalarNode && k.Value == key.Value {
					earlier = k
					break
				}
			}
		} else if earlier == nil {
			first[key.Value] = key
		}
		if earlier != nil {
			a.l.refuse(key, fmt.Sprintf("key %q is already defined at line %d", key.Value, earlier.Line), "")
		}
	}
}

func (a *audit) merged(n *yaml.Node) {
	switch n = target(n); n.Kind {
	case yaml.MappingNode:
		return
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item := target(item); item.Kind != yaml.MappingNode {
				a.l.refuse(item, "<< merges maps, not "+describe(item), "")
			}
		}
		return
	}
	a.l.refuse(n, "<< merges maps, not "+describe(n), "")
}

// target returns what an alias stands for, else the node itself.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isMerge(key *yaml.Node) bool {
	return key.Value == "<<" && key.Tag == "!!merge"
}

// pairs yields the keys of a map with their values: its own, then those that
// are merged into it and that it has not itself.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for list := flat(n); len(list) > 0; list = list[2:] {
			if !yield(target(list[0]), target(list[1])) {
				return
			}
		}
	}
}

// flat returns the keys and values of a map, what is merged into it included;
// of two merged maps the first wins. What is no map, and keys that are no texts,
// it leaves out: that was said already.
func flat(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	plain := true
	for i := 0; i < len(n.Content); i += 2 {
		plain = plain && !isMerge(n.Content[i]) && target(n.Content[i]).Kind == yaml.ScalarNode
	}
	if plain {
		return n.Content
	}
	var own, sources []*yaml.Node
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case target(key).Kind != yaml.ScalarNode:
		case !isMerge(key):
			seen[target(key).Value] = true
			own = append(own, key, value)
		case target(value).Kind == yaml.SequenceNode:
			sources = append(sources, target(value).Content...)
		default:
			sources = append(sources, value)
		}
	}
	for _, source := range sources {
		for key, value := range pairs(target(source)) {
			if !seen[key.Value] {
				seen[key.Value] = true
				own = append(own, key, value)
			}
		}
	}
	return own
}

// describe names the form of a node for messages.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a map"
	case isNull(n):
		return "nothing"
	}
	return quote(n.Value)
}

// quote is a text as the user wrote it, or the beginning of a long one.
func quote(text string) string {
	return strconv.Quote(value.Short(text))
}

// pos returns the place of a node.
func (l *loader) pos(n *yaml.Node) model.Pos {
	return model.Pos{File: l.file.path, Line: n.Line, Column: n.Column}
}

// refuse records a problem of the manifest as a whole at a node.
func (l *loader) refuse(n *yaml.Node, message, suggestion string) {
	l.problem(model.Problem{Pos: l.pos(n), Message: message, Suggestion: suggestion})
}
