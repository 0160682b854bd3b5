package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/settle-cm/settle/model"
)

// markdownLimit is the size of the largest report: a comment of GitHub has 65,536
// characters, and a pipeline may add some text. It is counted in bytes, so that it
// holds however a system counts characters.
const markdownLimit = 60_000

// How many bytes of a failure are shown: the beginning of its command and the end of
// its output.
const (
	markdownCommand = 2_000
	markdownOutput  = 4_000
)

// Markdown returns reports as a comment on a pull request or the summary of a job:
// the details of each failure, then the resources that are not stable. A hidden
// marker at the beginning lets a pipeline find its comment again.
func Markdown(reports []model.Report, _ Options) []byte {
	m := markdownReport{left: markdownLimit - len(cutNotice(1<<32))}
	for i := range reports {
		m.report(&reports[i])
	}
	if m.cut > 0 {
		m.b.WriteString(cutNotice(m.cut))
	}
	return []byte(m.b.String())
}

func cutNotice(n int) string {
	return fmt.Sprintf("\n**%d more parts are not shown: this report was cut at %d characters.**\n", n, markdownLimit)
}

// markdownReport is a document that grows by whole blocks, as long as they fit.
type markdownReport struct {
	b    strings.Builder
	left int
	cut  int // blocks that did not fit
}

// block adds a text, or leaves it out when less than spare bytes would remain.
func (m *markdownReport) block(text string, spare int) {
	if len(text) > m.left-spare {
		m.cut++
		return
	}
	m.left -= len(text)
	m.b.WriteString(text)
}

func (m *markdownReport) report(r *model.Report) {
	m.block(fmt.Sprintf("<!-- settle:%s -->\n### settle %s %s\n\n%s\n\n", markerText(r), r.Mode, code(r.Manifest), headlineText(r)), 0)
	for _, p := range r.Problems {
		m.block("- "+code(p.String())+"\n", 0)
	}
	half := m.left / 2 // reserved for the table: failures must not use all the room
	for i := range r.Resources {
		if o := &r.Resources[i]; isUnresolved(o) {
			m.block(failureDetailsBlock(r, o), half)
		}
	}
	for i, row := range tableRows(r, Options{}) {
		line := markdownRow(row)
		if i == 0 {
			line = "| | resource | status | reason |\n|---|---|---|---|\n" + line
		}
		m.block(line, 0)
	}
	for i, w := range allWarnings(r) {
		line := "- ⚠️ " + code(w.String()) + "\n"
		if i == 0 {
			line = "\n" + line
		}
		m.block(line, 0)
	}
	m.block(fmt.Sprintf("\n<sub>run %s on %s, exit code %d</sub>\n\n", htmlCode(r.Run), htmlCode(r.Host), r.ExitCode), 0)
}

// markerText returns the name that a pipeline looks for. It cannot end the HTML
// comment around it.
func markerText(r *model.Report) string {
	return strings.NewReplacer("--", "-&#45;", ">", "&gt;").Replace(Escape(displayName(r)))
}

func headlineText(r *model.Report) string {
	switch {
	case r.Error != "" && len(r.Resources) > 0:
		return "❌ " + code(r.Error) + ", " + code(summaryLine(r))
	case r.Error != "":
		return "❌ " + code(r.Error)
	}
	return code(summaryLine(r))
}

// emblems maps the symbols of the text report to pictures.
var emblems = map[string]string{"+": "➕", "~": "🔄", "?": "❔", "!": "❌", "-": "⏭️", "=": "✔️"}

func markdownRow(r row) string {
	note := code(r.note)
	for _, line := range r.below {
		note += "<br>" + code(line)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", emblems[r.marker], code(r.id), r.status, note)
}

// code returns Markdown that shows a text unchanged: it contains no markup, notifies
// no user that it mentions, and does not end the cell of a table.
func code(text string) string {
	text = Escape(text)
	switch {
	case text == "":
		return ""
	case strings.ContainsAny(text, "`|") || strings.TrimSpace(text) != text:
		return "<code>" + markupEntities.Replace(text) + "</code>"
	}
	return "`" + text + "`"
}

// markupEntities replaces every character that is markup in Markdown or HTML.
var markupEntities = strings.NewReplacer(func() []string {
	var pairs []string
	for _, c := range "!\"#$%&'()*+:;<=>?@[\\]^_`{|}~" {
		pairs = append(pairs, string(c), fmt.Sprintf("&#%d;", c))
	}
	return pairs
}()...)

// htmlCode is code for HTML blocks, in which Markdown has no effect.
func htmlCode(text string) string { return "<code>" + html.EscapeString(Escape(text)) + "</code>" }

// failureDetailsBlock returns a block that can be opened: where a failed resource is
// declared, its command, and the end of its output.
func failureDetailsBlock(r *model.Report, o *model.ResourceReport) string {
	var b strings.Builder
	emblem := "❌"
	if o.Ignored {
		emblem = "⚠️"
	}
	fmt.Fprintf(&b, "<details><summary>%s %s %s: %s</summary>\n\n%s\n\n", emblem,
		htmlCode(o.ID), statusText(o.Status), htmlCode(o.Reason), code(fmt.Sprintf("%s:%d", o.File, o.Line)))
	var text []string
	for _, field := range []struct{ label, text string }{{"command", o.Command}, {"cwd", o.Cwd}} {
		if t := escapeLines(field.text); t != "" {
			if len(t) > markdownCommand {
				t = strings.ToValidUTF8(t[:markdownCommand], "") + " …"
			}
			text = append(text, field.label+": "+t)
		}
	}
	for _, g := range o.Guards {
		text = append(text, guardText(g))
	}
	for _, value := range valueLines(o) {
		text = append(text, "value: "+value)
	}
	if cost := failureCost(r, o); cost != "" {
		text = append(text, cost)
	}
	b.WriteString(fencedBlock(strings.Join(text, "\n")))
	if output := escapeLines(o.Output); !o.Quiet {
		if cut := len(output) - markdownOutput; cut > 0 {
			output = fmt.Sprintf("… %d bytes before these\n", cut) + strings.ToValidUTF8(output[cut:], "")
		}
		b.WriteString(fencedBlock(output))
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

// fencedBlock returns a block of code whose fence is longer than any in the text.
func fencedBlock(text string) string {
	if text == "" {
		return ""
	}
	longest, run := 2, 0
	for _, c := range text {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + text + "\n" + fence + "\n\n"
}
