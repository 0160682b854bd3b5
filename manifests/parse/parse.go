// Package parse turns the bytes of a file into a tree of YAML nodes that is safe
// to walk, or into problems in words of its own: keys given twice, aliases that
// stand for too much, and syntax errors at the place that a person got wrong. It
// knows nothing of manifests beyond YAML.
package parse

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
)

// File is a parsed file.
type File struct {
	Path string // as messages show it
	Text Text
	Root *yaml.Node // nil when the file holds nothing, or no valid YAML
}

// Parse reads the one document of a file. Problems go to the sink. The tree may
// hold loops of aliases: call Check before walking it.
func Parse(path string, data []byte, sink *entry.Sink) *File {
	text, problem := newText(data)
	f := &File{Path: path, Text: text}
	if problem == nil {
		problem = f.checkSize()
	}
	if problem != nil {
		problem.File = path
		sink.Refuse(*problem)
		return f
	}
	r := strings.NewReader(f.Text.All)
	documents, err := decodeDocuments(r)
	if err != nil {
		sink.Refuse(*f.explainSyntax(err, len(f.Text.All)-r.Len()))
		return f
	}
	if len(documents) > 1 {
		f.Refuse(sink, documents[1], "a second YAML document: only one is allowed", "put it in a file of its own")
	}
	if len(documents) > 0 {
		f.Root = documents[0].Content[0]
	}
	return f
}

// Root returns the tree of a text, nil when it holds nothing or is no valid YAML.
func Root(data []byte) *yaml.Node {
	f := &File{}
	var problem *model.Problem
	if f.Text, problem = newText(data); problem != nil || f.checkSize() != nil {
		return nil
	}
	documents, err := decodeDocuments(strings.NewReader(f.Text.All))
	if err != nil || len(documents) == 0 {
		return nil
	}
	return documents[0].Content[0]
}

func (f *File) checkSize() *model.Problem {
	at := f.Text.findExcess()
	if at < 0 {
		return nil
	}
	p := &model.Problem{Message: "more than 1,000,000 values, by the brackets, commas, dashes and colons so far", Suggestion: "split it into several manifests"}
	p.Line, p.Column = f.Text.Place(at)
	return p
}

// Pos returns the place of a node of the file.
func (f *File) Pos(n *yaml.Node) model.Pos {
	return model.Pos{File: f.Path, Line: n.Line, Column: n.Column}
}

// Refuse records a problem of the file as a whole at a node.
func (f *File) Refuse(sink *entry.Sink, n *yaml.Node, message, suggestion string) {
	sink.Refuse(model.Problem{Pos: f.Pos(n), Message: message, Suggestion: suggestion})
}

// ParseList returns the node of a list in brackets, as a user gives one on the
// command line. It returns false for any other text, and for one with aliases.
func ParseList(text string) (*yaml.Node, bool) {
	documents, err := decodeDocuments(strings.NewReader(text))
	if err != nil || len(documents) != 1 || documents[0].Content[0].Kind != yaml.SequenceNode || hasAlias(documents[0]) {
		return nil, false
	}
	return documents[0].Content[0], true
}

// decodeDocuments reads the documents that hold something, up to the second one.
// The library has panicked on malformed bytes before, so its panics become errors.
func decodeDocuments(r io.Reader) (documents []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	decoder := yaml.NewDecoder(r)
	for len(documents) < 2 {
		document := new(yaml.Node)
		err := decoder.Decode(document)
		switch {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		if !IsNull(document.Content[0]) {
			documents = append(documents, document)
		}
	}
	return documents, nil
}
