package manifests

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// parse makes the tree of the one document of the file that is being read, nil
// when there is none or when the text is no YAML, which is a problem then.
func (l *loader) parse(data []byte) *yaml.Node {
	text, problem := newText(data)
	l.file.text = text
	if problem != nil {
		problem.File = l.file.path
		l.problem(*problem)
		return nil
	}
	if at := text.dense(); at >= 0 {
		p := model.Problem{Message: "more than 1,000,000 values, by the brackets, commas, dashes and colons so far", Suggestion: "split it into several manifests"}
		p.Line, p.Column = text.place(at)
		p.File = l.file.path
		l.problem(p)
		return nil
	}
	documents, err := decode(strings.NewReader(text.string))
	if err != nil {
		l.problem(l.syntax(err))
		return nil
	}
	if len(documents) == 0 {
		return nil
	}
	if len(documents) > 1 {
		l.refuse(documents[1], "a second YAML document: only one is allowed", "put it in a file of its own")
	}
	return documents[0].Content[0]
}

// decode reads the documents that hold something, up to the second one. The
// library has panicked on malformed bytes before, so a panic of it is an error
// here.
func decode(r io.Reader) (documents []*yaml.Node, err error) {
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
		if !isNull(document.Content[0]) {
			documents = append(documents, document)
		}
	}
	return documents, nil
}

// isNull says whether a node is YAML's null: written so, or nothing at all.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}
