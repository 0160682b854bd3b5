// Package excerpt prepares problems for people: it redacts secrets in them and
// adds the line that each is about, unless that line may hold something sensitive.
package excerpt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
)

// Writer redacts problems and adds their lines.
type Writer struct {
	files    []*parse.File
	secrets  []string // values to redact
	redactor *secret.Redactor
	hidden   map[string]*hidden // by the path of a file; filled on first use
}

// New returns a writer for problems in files that keeps secrets out of them.
func New(files []*parse.File, secrets []string) *Writer {
	w := &Writer{files: files, secrets: secrets, hidden: map[string]*hidden{}}
	w.redactor, _ = secret.New(secrets)
	return w
}

// SecretValues returns the values that an environment (a list of KEY=VALUE) gives
// to the names of secrets. A manifest with problems may name its secrets wrongly:
// then every word under a key called secrets in its files counts as a name too.
func SecretValues(names, environ []string, files []*parse.File, broken bool) []string {
	names = slices.Clone(names)
	if broken {
		for _, f := range files {
			if !strings.Contains(f.Text.All, "secrets") {
				continue // the search below takes a second for a large file
			}
			for _, block := range secretsKey().FindAllString(f.Text.All, -1) {
				names = append(names, variableName().FindAllString(block, -1)...)
			}
		}
	}
	var values []string
	for _, pair := range environ {
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

// Finish returns problems without secrets, sorted, and with their lines.
func (w *Writer) Finish(problems model.Problems) model.Problems {
	problems = problems.Sort()
	for i := range problems {
		p := &problems[i]
		if h := w.linesOf(p.File); p.Line > 0 && !h.all && !h.lines[p.Line] {
			p.Excerpt = w.cut(h.text, p.Pos)
		}
		for _, text := range []*string{&p.ID, &p.Property, &p.Message, &p.Suggestion} {
			*text = w.redactor.Redact(RedactCut(*text, w.secrets))
		}
	}
	return problems
}

// cut returns a line in two halves. It returns none for a long line, and for one
// with a secret across the cut, of which neither half would be recognised.
func (w *Writer) cut(text *parse.Text, pos model.Pos) model.Excerpt {
	line := text.Line(pos.Line)
	if len(line) > entry.MaxLine {
		return model.Excerpt{}
	}
	rest := parse.From(line, pos.Column)
	before := line[:len(line)-len(rest)]
	if utf8.RuneCountInString(before) != pos.Column-1 {
		return model.Excerpt{} // the place is behind the end of the line
	}
	x := model.Excerpt{Before: w.redactor.Redact(before), From: w.redactor.Redact(rest)}
	if x.Before+x.From != w.redactor.Redact(line) {
		return model.Excerpt{}
	}
	return x
}

// linesOf returns the hidden lines of a file. Every line of a file that is not
// part of the manifest is hidden.
func (w *Writer) linesOf(path string) *hidden {
	if h := w.hidden[path]; h != nil {
		return h
	}
	h := &hidden{all: true}
	for _, f := range w.files {
		if f.Path == path {
			h = findHidden(f)
		}
	}
	w.hidden[path] = h
	return h
}
