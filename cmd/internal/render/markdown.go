package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/settle-cm/settle/model"
)

// markdownLimit is what fits into a comment of GitHub (65,536 characters) with
// room for what a pipeline adds. It is counted in bytes, so that it holds
// whatever a system counts.
const markdownLimit = 60_000

// How much of a failure is shown: of its command the beginning, of its output the end.
const (
	markdownCommand = 2_000
	markdownOutput  = 4_000
)

// Markdown is the report as a comment on a pull request or the summary of a job:
// what a person needs to know of each failure, then what is not stable. A
// hidden marker in front lets a pipeline find its comment again.
func Markdown(reports []model.Report, _ Options) []byte {
	m := markdown{left: markdownLimit - len(markdownCut(1<<32))}
	for i := range reports {
		m.report(&reports[i])
	}
	if m.cut > 0 {
		m.b.WriteString(markdownCut(m.cut))
	}
	return []byte(m.b.String())
}

func markdownCut(n int) string {
	return fmt.Sprintf("\n**%d more parts are not shown: this report was cut at %d characters.**\n", n, markdownLimit)
}

// markdown is a document that grows by whole blocks, as long as they fit.
type markdown struct {
	b    strings.Builder
	left int
	cut  int // blocks that did not fit
}

// block adds a text, or nothing of it when it would leave less than spare.
func (m *markdown) block(text string, spare int) {
	if len(text) > m.left-spare {
		m.cut++
		return
	}
	m.left -= len(text)
	m.b.WriteString(text)
}

func (m *markdown) report(r *model.Report) {
	m.block(fmt.Sprintf("<!-- settle:%s -->\n### settle %s %s\n\n%s\n\n", markerText(r), r.Mode, code(r.Manifest), headline(r)), 0)
	for _, p := range r.Problems {
		m.block("- "+code(p.String())+"\n", 0)
	}
	half := m.left / 2 // the list of what changed must not leave failures without room, nor they it
	for i := range r.Resources {
		if o := &r.Resources[i]; o.Status == model.Failed || o.Status == model.Interrupted {
			m.block(markdownFailure(r, o), half)
		}
	}
	for i, row := range (&text{}).table(r) {
		line := markdownRow(row)
		if i == 0 {
			line = "| | resource | status | reason |\n|---|---|---|---|\n" + line
		}
		m.block(line, 0)
	}
	for i, w := range warnings(r) {
		line := "- ⚠️ " + code(w.String()) + "\n"
		if i == 0 {
			line = "\n" + line
		}
		m.block(line, 0)
	}
	m.block(fmt.Sprintf("\n<sub>run %s on %s, exit code %d</sub>\n\n", htmlCode(r.Run), htmlCode(r.Host), r.ExitCode), 0)
}

// markerText is the name that a pipeline looks for, kept from ending the comment
// that it stands in.
func markerText(r *model.Report) string {
	name := r.Name
	if name == "" {
		name = r.Manifest
	}
	return strings.NewReplacer("--", "-&#45;", ">", "&gt;").Replace(Escape(name))
}

func headline(r *model.Report) string {
	switch {
	case r.Error != "" && len(r.Resources) > 0:
		return "❌ " + code(r.Error) + ", " + code(summary(r))
	case r.Error != "":
		return "❌ " + code(r.Error)
	}
	return code(summary(r))
}

// emblems are the markers of the text report as what can be told apart at a glance.
var emblems = map[string]string{"+": "➕", "~": "🔄", "?": "❔", "!": "❌", "-": "⏭️", "=": "✔️"}

func markdownRow(r row) string {
	note := code(r.note)
	for _, line := range r.below {
		note += "<br>" + code(line)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", emblems[r.marker], code(r.id), r.status, note)
}

// code shows a text as it is: no markup in it counts, nobody whom it mentions
// is told, and the columns of a table hold.
func code(text string) string {
	text = Escape(text)
	switch {
	case text == "":
		return ""
	case strings.ContainsAny(text, "`|") || strings.TrimSpace(text) != text:
		return "<code>" + entities.Replace(text) + "</code>"
	}
	return "`" + text + "`"
}

// entities spells everything that Markdown or HTML could take for markup.
var entities = strings.NewReplacer(func() []string {
	var pairs []string
	for _, c := range "!\"#$%&'()*+:;<=>?@[\\]^_`{|}~" {
		pairs = append(pairs, string(c), fmt.Sprintf("&#%d;", c))
	}
	return pairs
}()...)

// htmlCode is code where Markdown does not look: inside HTML blocks.
func htmlCode(text string) string { return "<code>" + html.EscapeString(Escape(text)) + "</code>" }

// markdownFailure is a part that opens: where, what was run, and the end of
// what it said.
func markdownFailure(r *model.Report, o *model.ResourceReport) string {
	var b strings.Builder
	emblem := "❌"
	if o.Ignored {
		emblem = "⚠️"
	}
	fmt.Fprintf(&b, "<details><summary>%s %s %s: %s</summary>\n\n%s\n\n", emblem,
		htmlCode(o.ID), words(o.Status), htmlCode(o.Reason), code(fmt.Sprintf("%s:%d", o.File, o.Line)))
	var text []string
	for _, field := range []struct{ label, text string }{{"command", o.Command}, {"cwd", o.Cwd}} {
		if t := multiline(field.text); t != "" {
			if len(t) > markdownCommand {
				t = strings.ToValidUTF8(t[:markdownCommand], "") + " …"
			}
			text = append(text, field.label+": "+t)
		}
	}
	for _, g := range o.Guards {
		text = append(text, guard(g))
	}
	for _, value := range valueLines(o) {
		text = append(text, "value: "+value)
	}
	if lost := cost(r, o); lost != "" {
		text = append(text, lost)
	}
	b.WriteString(fenced(strings.Join(text, "\n")))
	if output := multiline(o.Output); !o.Quiet {
		if cut := len(output) - markdownOutput; cut > 0 {
			output = fmt.Sprintf("… %d bytes before these\n", cut) + strings.ToValidUTF8(output[cut:], "")
		}
		b.WriteString(fenced(output))
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

// fenced is a block of code behind a fence that nothing in it can close.
func fenced(text string) string {
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
