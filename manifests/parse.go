package manifests

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// parse makes the tree of the one document, nil when there is none or when the
// text is no YAML, which is a problem then.
func (l *loader) parse() *yaml.Node {
	text, problem := newText(l.src.Bytes)
	l.text = text
	if problem != nil {
		problem.File = l.src.Path
		l.problems = append(l.problems, *problem)
		return nil
	}
	documents, err := decode(strings.NewReader(l.text.string))
	if err != nil {
		l.problems = append(l.problems, l.syntax(err))
		return nil
	}
	var root *yaml.Node
	for _, document := range documents {
		switch content := document.Content[0]; {
		case isNull(content):
		case root != nil:
			pos := model.Pos{File: l.src.Path, Line: document.Line, Column: document.Column}
			l.problems = append(l.problems, model.Problem{Pos: pos,
				Message: "a second YAML document: only one is allowed", Suggestion: "put it in a file of its own"})
			return root
		default:
			root = content
		}
	}
	return root
}

// decode reads all documents. The library has panicked on malformed bytes
// before, so a panic of it is an error here.
func decode(r io.Reader) (documents []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	decoder := yaml.NewDecoder(r)
	for {
		document := new(yaml.Node)
		err := decoder.Decode(document)
		switch {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		documents = append(documents, document)
	}
}

// isNull says whether a node is YAML's null: written so, or nothing at all.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}
