package eval

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// placer finds the places of offsets in a text, in ascending order.
type placer struct {
	text  string
	from  int // offset of the line
	line  int
	until int // offset up to which lines are counted
}

// at returns a node at the place of an offset.
func (p *placer) at(offset int) *yaml.Node {
	for p.until < offset {
		next := strings.IndexByte(p.text[p.until:offset], '\n')
		if next < 0 {
			break
		}
		p.until += next + 1
		p.from, p.line = p.until, p.line+1
	}
	p.until = max(p.until, p.from)
	return &yaml.Node{Kind: yaml.ScalarNode, Line: p.line, Column: 1 + utf8.RuneCountInString(p.text[p.from:offset])}
}

// placeInside returns the place of a character of a scalar, where the way in which
// the scalar is written shows it, else the place of the scalar.
func placeInside(f *parse.File, v model.Value, line, column int) model.Pos {
	pos := v.Pos
	lines := strings.Split(v.Text, "\n")
	written := strings.TrimRight(lines[min(line, len(lines))-1], " ")
	source := f.Text.Line(pos.Line)
	if len(source) > entry.MaxLine {
		return pos
	}
	source = parse.From(source, pos.Column)
	if strings.HasPrefix(source, "|") || strings.HasPrefix(source, ">") {
		below := strings.TrimRight(f.Text.Line(pos.Line+line), " ")
		if margin, ok := strings.CutSuffix(below, written); ok && strings.TrimSpace(margin) == "" {
			pos.Line, pos.Column = pos.Line+line, len(margin)+column
		}
		return pos
	}
	for quotes := range 2 {
		if line == 1 && len(source) > quotes && strings.HasPrefix(source[quotes:], written) {
			pos.Column += quotes + min(column-1, utf8.RuneCountInString(written))
			return pos
		}
	}
	return pos
}
