package parse

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
)

// Counts are how many values the files of a manifest hold so far: the limits
// hold for all files together.
type Counts struct {
	Written int // values that are written out
	Aliased int // values that aliases stand for
}

// Check looks for mistakes that a walk over the tree cannot see (keys given
// twice) or survive (aliases of themselves, aliases of aliases of aliases). It
// returns the counts with this file's added, and whether a walk is safe.
func (f *File) Check(counts Counts, sink *entry.Sink) (Counts, bool) {
	c := checker{file: f, sink: sink, sizes: map[*yaml.Node]int{}, Counts: counts}
	c.visit(f.Root, 1)
	if !c.unsafe && c.Aliased > min(max(entry.MinAliased, 10*c.Written), entry.MaxAliased) {
		c.refuse(c.largest, "too many aliases: they stand for more values than a manifest may have", "")
	}
	return c.Counts, !c.unsafe
}

// checker visits every node of one file once.
type checker struct {
	Counts
	file    *File
	sink    *entry.Sink
	sizes   map[*yaml.Node]int // values under each anchor, with those of aliases in it
	largest *yaml.Node         // the alias that stands for most values
	most    int                // how many it stands for
	unsafe  bool               // a walk would not end, or not soon enough

	line, column, offset int // place of the last call of rest
}

// refuse records a problem that makes a walk unsafe.
func (c *checker) refuse(n *yaml.Node, message, suggestion string) {
	c.unsafe = true
	c.file.Refuse(c.sink, n, message, suggestion)
}

// visit returns how many values a node is, with those that its aliases stand for.
func (c *checker) visit(n *yaml.Node, depth int) int {
	if c.unsafe {
		return 0
	}
	c.Written++
	switch {
	case depth > entry.MaxDepth:
		c.refuse(n, fmt.Sprintf("nested deeper than %d levels", entry.MaxDepth), "")
		return 0
	case c.Written > entry.MaxValues:
		c.refuse(n, "more than 1,000,000 values", "split it into several manifests")
		return 0
	}
	if n.Kind == yaml.AliasNode {
		return c.countAlias(n)
	}
	if n.Style&yaml.TaggedStyle != 0 || c.file.Text.hasTags && n.Kind == yaml.ScalarNode {
		c.checkTag(n)
	}
	if n.Kind == yaml.MappingNode {
		c.checkKeys(n)
	}
	size := 1
	for _, child := range n.Content {
		size += c.visit(child, depth+1)
	}
	if n.Anchor != "" {
		c.sizes[n] = size
	}
	return size
}

// checkTag refuses tags, which YAML takes off a value: without the "!" the guard
// "! grep x" would silently become its opposite. Only !!str is allowed.
func (c *checker) checkTag(n *yaml.Node) {
	tag := n.Tag
	if n.Style&yaml.TaggedStyle == 0 {
		rest := c.rest(n)
		if n.Anchor != "" {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, "&"+n.Anchor), " ")
		}
		if !strings.HasPrefix(rest, "!") {
			return
		}
		tag = "!"
	}
	if n.Kind != yaml.ScalarNode || tag != "!!str" {
		c.file.Refuse(c.sink, n, fmt.Sprintf("the tag %s means nothing in a manifest", tag), `leave it out, or quote a value that begins with "!"`)
	}
}

// rest returns the part of the line that begins at a node. A line may be the
// whole text, so the search continues from the node before where it can.
func (c *checker) rest(n *yaml.Node) string {
	if n.Line != c.line || n.Column < c.column {
		c.line, c.column, c.offset = n.Line, 1, 0
	}
	line := c.file.Text.Line(n.Line)
	rest := From(line[min(c.offset, len(line)):], 1+n.Column-c.column)
	c.column, c.offset = n.Column, len(line)-len(rest)
	return rest
}

// countAlias counts the values that an alias stands for. An anchor without a size
// is still being visited, so it holds the alias itself.
func (c *checker) countAlias(n *yaml.Node) int {
	size, ok := c.sizes[n.Alias]
	if !ok {
		c.refuse(n, fmt.Sprintf("the alias *%s stands inside what it stands for", n.Value), "")
		return 0
	}
	const enough = 1 << 40 // keeps sums from overflowing
	c.Aliased = min(c.Aliased+size, enough)
	if size > c.most {
		c.largest, c.most = n, size
	}
	return min(size, enough)
}

// checkKeys checks that the keys of a map are texts, each given once, and that
// only maps are merged into it.
func (c *checker) checkKeys(n *yaml.Node) {
	const few = 16 // up to here comparing is faster than hashing
	var first map[string]*yaml.Node
	if len(n.Content) > 2*few {
		first = make(map[string]*yaml.Node, len(n.Content)/2)
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := Target(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			c.file.Refuse(c.sink, key, "a key must be a text, not "+Describe(key), `quote a value that begins with "{" or "["`)
			continue
		}
		if isMerge(n.Content[i]) {
			c.checkMerged(n.Content[i+1])
		}
		earlier := first[key.Value]
		if first == nil {
			earlier = findKey(n.Content[:i], key.Value)
		} else if earlier == nil {
			first[key.Value] = key
		}
		if earlier != nil {
			c.file.Refuse(c.sink, key, fmt.Sprintf("key %q is already defined at line %d", key.Value, earlier.Line), "")
		}
	}
}

// findKey returns the key of that name in a list of keys and values, or nil.
func findKey(content []*yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(content); i += 2 {
		if k := Target(content[i]); k.Kind == yaml.ScalarNode && k.Value == name {
			return k
		}
	}
	return nil
}

func (c *checker) checkMerged(n *yaml.Node) {
	n = Target(n)
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range sources {
		if source = Target(source); source.Kind != yaml.MappingNode {
			c.file.Refuse(c.sink, source, "<< merges maps, not "+Describe(source), "")
		}
	}
}
