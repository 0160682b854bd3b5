package render

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/settle-cm/settle/model"
)

// GitHub's runner finds commands in the output of a step: lines that begin with ::
// (after spaces), and ##[…] anywhere in a line. This file writes settle's own
// commands, and disarms those in the output of others.

// maxAnnotations is how many annotations GitHub shows of one step: the overview and
// nine beside their lines.
const maxAnnotations = 10

// Annotations returns the failures of all reports as commands that make GitHub show
// them beside the lines of the manifests: first an overview, then the first nine
// failures. Place turns a path into the one that the repository knows.
func Annotations(reports []model.Report, place func(file string) string) []byte {
	var each, overview []string
	for i := range reports {
		r := &reports[i]
		for _, p := range r.Problems {
			message := p
			message.Pos = model.Pos{}
			each = append(each, annotation(place, p.Pos, message.String()))
		}
		for _, o := range listUnresolved(r) {
			if isFailure(o) {
				each = append(each, annotation(place, o.Pos, failureMessage(o)))
			}
		}
		if text := failureSummary(r); text != "" {
			overview = append(overview, text)
		}
	}
	if len(overview) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "::error title=settle %s::%s\n", workflowProperty(reports[0].Mode), workflowText(strings.Join(overview, "\n")))
	for _, line := range each[:min(len(each), maxAnnotations-1)] {
		b.WriteString(line)
	}
	return b.Bytes()
}

// failureMessage returns the failure of a resource, with the last line of its output.
func failureMessage(o *model.ResourceReport) string {
	message := o.ID + " " + statusText(o.Status) + ": " + o.Reason
	if line := lastOutputLine(o); line != "" {
		message += ": " + line
	}
	return message
}

// failureSummary returns what failed in a report, in a line; "" when nothing did.
func failureSummary(r *model.Report) string {
	n := r.Summary.Count[model.Failed] + r.Summary.Count[model.Interrupted]
	switch {
	case r.Error != "":
		return r.Error
	case n > 0:
		return r.Manifest + ": " + summaryLine(r)
	}
	return ""
}

// annotation returns the command for one message at a place of a manifest.
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
	workflowEscapes = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	escapeText      = strings.NewReplacer(workflowEscapes...).Replace
	escapeProperty  = strings.NewReplacer(append(workflowEscapes, ":", "%3A", ",", "%2C")...).Replace
)

func workflowText(text string) string     { return escapeText(spellControls(text)) }
func workflowProperty(text string) string { return escapeProperty(spellControls(text)) }

// spellControls spells out control characters, except line ends, which GitHub
// decodes from percent signs.
func spellControls(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		b.WriteString(EscapeLine(text[:end]))
		if end < len(text) {
			b.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return b.String()
}

// MaskCommands returns the commands that make GitHub redact these values wherever
// they are printed. A value of several lines is masked line by line, as it is printed.
func MaskCommands(values []string) []byte {
	var b bytes.Buffer
	for _, value := range values {
		for _, line := range strings.FieldsFunc(value, func(c rune) bool { return c == '\n' || c == '\r' }) {
			if strings.TrimSpace(line) != "" {
				fmt.Fprintf(&b, "::add-mask::%s\n", escapeText(line))
			}
		}
	}
	return b.Bytes()
}

// Outputs returns the outputs of a step, which later steps can read.
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

// Fence returns the lines between which GitHub ignores commands. The token must be
// random: any text that contains it ends the fence.
func Fence(token string) (begin, end string) {
	return "::stop-commands::" + token + "\n", "::" + token + "::\n"
}

// HasCommand reports whether GitHub could take part of a text for a command.
func HasCommand(text []byte) bool {
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

// runnerLines returns the lines of a text as the runner splits them: a carriage
// return ends a line too.
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

// EscapeCommands returns a text in which GitHub finds no command.
func EscapeCommands(text []byte) []byte {
	if !HasCommand(text) {
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

// EscapeCommandsJSON is EscapeCommands for a JSON document. Its value stays the
// same: ##[ occurs only inside strings, and no line begins with a colon.
func EscapeCommandsJSON(doc []byte) []byte {
	return bytes.ReplaceAll(doc, []byte("##["), []byte(`#\u0023[`))
}
