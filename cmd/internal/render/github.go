package render

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/settle-cm/settle/model"
)

// GitHub's runner reads commands out of what a step prints: a line that begins
// with :: (after spaces), and ##[…] anywhere in a line. Everything here is about
// saying ours, and about nobody else's being heard.

// annotationsMost is how many GitHub shows of one step: one that says it all and
// nine that stand beside their lines.
const annotationsMost = 10

// Annotations returns the failures of all reports as GitHub shows them beside
// the lines of the manifests: first all in one, then the first nine. Place turns
// a path into the one that the repository knows.
func Annotations(reports []model.Report, place func(file string) string) []byte {
	var each []string
	var whole []string
	for i := range reports {
		r := &reports[i]
		for _, p := range r.Problems {
			message := p
			message.Pos = model.Pos{}
			each = append(each, annotation(place, p.Pos, message.String()))
		}
		for j := range r.Resources {
			if o := &r.Resources[j]; o.Status == model.Failed && !o.Ignored || o.Status == model.Interrupted {
				each = append(each, annotation(place, o.Pos, o.ID+" "+words(o.Status)+": "+o.Reason))
			}
		}
		if text := wrong(r); text != "" {
			whole = append(whole, text)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "::error title=settle %s::%s\n", workflowProperty(reports[0].Mode), workflowText(strings.Join(whole, "\n")))
	for _, line := range each[:min(len(each), annotationsMost-1)] {
		b.WriteString(line)
	}
	return b.Bytes()
}

// wrong is what went wrong with a manifest, in a line; "" when nothing did.
func wrong(r *model.Report) string {
	n := r.Summary.Count[model.Failed] + r.Summary.Count[model.Interrupted]
	switch {
	case r.Error != "":
		return r.Error
	case n > 0:
		return r.Manifest + ": " + summary(r)
	}
	return ""
}

func annotation(place func(string) string, at model.Pos, message string) string {
	var where []string
	if at.File != "" && at.File != "-" {
		where = append(where, "file="+workflowProperty(place(at.File)))
		if at.Line > 0 {
			where = append(where, fmt.Sprintf("line=%d", at.Line))
		}
		if at.Column > 0 {
			where = append(where, fmt.Sprintf("col=%d", at.Column))
		}
	}
	return "::" + strings.TrimSpace("error "+strings.Join(where, ",")) + "::" + workflowText(message) + "\n"
}

// A workflow command ends at the end of its line, and its properties at a comma
// or a colon: GitHub decodes them from percent signs.
var (
	workflowEscapes  = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	workflowText     = strings.NewReplacer(workflowEscapes...).Replace
	workflowProperty = strings.NewReplacer(append(workflowEscapes, ":", "%3A", ",", "%2C")...).Replace
)

// Masks tells GitHub to hide values wherever they turn up. A value of several
// lines is hidden line by line, because it is printed so.
func Masks(values []string) []byte {
	var b bytes.Buffer
	for _, value := range values {
		for _, line := range strings.FieldsFunc(value, func(c rune) bool { return c == '\n' || c == '\r' }) {
			if strings.TrimSpace(line) != "" {
				fmt.Fprintf(&b, "::add-mask::%s\n", workflowText(line))
			}
		}
	}
	return b.Bytes()
}

// Outputs is what a step hands to the steps after it.
func Outputs(reports []model.Report) []byte {
	var changed, failed, pending int
	for i := range reports {
		changed += reports[i].Summary.Count[model.Changed]
		failed += reports[i].Summary.Count[model.Failed]
		pending += reports[i].Pending()
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "changed=%d\nfailed=%d\n", changed, failed)
	if len(reports) > 0 && reports[0].Mode == "plan" {
		fmt.Fprintf(&b, "pending=%d\nhas_changes=%t\n", pending, pending > 0)
	}
	return b.Bytes()
}

// Fence returns the lines between which GitHub hears no command. Nobody can
// guess the token that ends it.
func Fence(token string) (begin, end string) {
	return "::stop-commands::" + token + "\n", "::" + token + "::\n"
}

// Commanding says whether GitHub could take part of a text for a command.
func Commanding(text []byte) bool {
	if bytes.Contains(text, []byte("##[")) {
		return true
	}
	if !bytes.Contains(text, []byte("::")) {
		return false
	}
	for line := range runnerLines(text) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("::")) {
			return true
		}
	}
	return false
}

// runnerLines are the lines of a text as the runner reads them: a carriage
// return ends one as well.
func runnerLines(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			end := bytes.IndexAny(text, "\r\n") + 1
			if end == 0 {
				end = len(text)
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// Inert spells out in a text what GitHub would take for a command.
func Inert(text []byte) []byte {
	if !Commanding(text) {
		return text
	}
	var b bytes.Buffer
	for line := range runnerLines(text) {
		if rest := bytes.TrimSpace(line); bytes.HasPrefix(rest, []byte("::")) {
			at := bytes.Index(line, rest)
			b.Write(line[:at])
			b.WriteString(`\x3a`)
			line = line[at+1:]
		}
		b.Write(bytes.ReplaceAll(line, []byte("##["), []byte(`#\x23[`)))
	}
	return b.Bytes()
}

// InertJSON is Inert for JSON, which stays the same value: ##[ can stand in
// strings only, and no line of a document begins with a colon.
func InertJSON(doc []byte) []byte {
	return bytes.ReplaceAll(doc, []byte("##["), []byte(`#\u0023[`))
}
