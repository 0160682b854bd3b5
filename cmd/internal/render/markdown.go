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
// the result and the counts as its heading, the details of each failure, the diffs,
// and tables of the resources. A hidden marker at the beginning lets a pipeline find
// its comment again.
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
	m.block("<!-- settle:"+markerText(r)+" -->\n### "+headlineText(r)+"\n\n"+sourceText(r)+"\n\n", 0)
	for _, p := range r.Problems {
		m.block("- "+code(p.String())+"\n", 0)
	}
	half := m.left / 2 // reserved for the tables: failures and diffs must not use all the room
	for _, o := range listUnresolved(r) {
		m.block(failureDetailsBlock(r, o), half)
	}
	for i := range r.Resources {
		if o := &r.Resources[i]; o.Diff != "" && !isUnresolved(o) {
			m.block(diffBlock(o), half)
		}
	}
	m.tables(r)
	for i, w := range allWarnings(r) {
		line := "- ⚠️ " + code(w.String()) + "\n"
		if i == 0 {
			line = "\n" + line
		}
		m.block(line, 0)
	}
	m.block(fmt.Sprintf("\n<sub>run %s on %s, exit code %d</sub>\n\n", htmlCode(r.Run), htmlCode(r.Host), r.ExitCode), 0)
}

// maxOpenRows is how many rows a table has at most that is not folded.
const maxOpenRows = 20

// tables adds a table of the resources that are not stable, and a folded one of
// the others.
func (m *markdownReport) tables(r *model.Report) {
	var rows, unchanged []string
	for _, row := range tableRows(r, Options{}) {
		rows = append(rows, markdownRow(row))
	}
	for i := range r.Resources {
		if o := &r.Resources[i]; !isListed(o, Options{}) {
			unchanged = append(unchanged, markdownRow(resourceRow(r, o, Options{})))
		}
	}
	if len(rows) <= maxOpenRows {
		m.table("", rows)
	} else {
		m.table(countOf(len(rows), "resource"), rows)
	}
	m.table(fmt.Sprintf("%d unchanged", len(unchanged)), unchanged)
}

// table adds a table of rows, folded below a title if it has one.
func (m *markdownReport) table(title string, rows []string) {
	if len(rows) == 0 {
		return
	}
	head, foot := "| | resource | status | reason |\n|---|---|---|---|\n", "\n"
	if title != "" {
		head = "<details><summary>" + title + "</summary>\n\n" + head
		foot = "\n</details>\n\n"
	}
	if len(head)+len(foot)+len(rows[0]) > m.left {
		m.cut += len(rows)
		return
	}
	m.block(head, 0)
	for _, row := range rows {
		m.block(row, len(foot))
	}
	m.block(foot, 0)
}

// markerText returns the name that a pipeline looks for. It cannot end the HTML
// comment around it.
func markerText(r *model.Report) string {
	return strings.NewReplacer("--", "-&#45;", ">", "&gt;").Replace(Escape(displayName(r)))
}

// headlineText returns the overall result, the manifest's name and the counts.
func headlineText(r *model.Report) string {
	emblem := "✅"
	if r.Error != "" || len(r.Problems) > 0 || outcomeColor(r) == red {
		emblem = "❌"
	}
	counts := ""
	switch {
	case len(r.Problems) > 0:
		counts = ": " + countOf(len(r.Problems), "problem")
	case len(r.Resources) > 0 && r.Mode == "plan":
		counts = ": " + planCounts(r)
	case len(r.Resources) > 0:
		counts = ": " + applyCounts(r)
	case r.Error == "":
		counts = ": " + summaryLine(r)
	}
	return emblem + " settle " + r.Mode + " " + code(displayName(r)) + counts
}

// sourceText returns the manifest's path and, where there is one, the error of the run.
func sourceText(r *model.Report) string {
	text := code(r.Manifest)
	if r.Error != "" {
		text += ": " + code(r.Error)
	}
	if owed := owedText(r); owed != "" {
		text += owed
	}
	return text
}

// emblems maps the symbols of the text report to pictures.
var emblems = map[string]string{
	createSymbol: "➕", changeSymbol: "✏️", removeSymbol: "➖", refreshSymbol: "🔄",
	maySymbol: "❔", failedSymbol: "❌", skippedSymbol: "⏭️", stableSymbol: "✔️",
}

func markdownRow(r row) string {
	note := code(r.note)
	for _, line := range r.below {
		note += "<br>" + code(line)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", emblems[r.symbol], code(r.id), r.status, note)
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
	if ignoredSignal(o) {
		text = append(text, "killed by SIGKILL")
	}
	if cost := failureCost(r, o); cost != "" {
		text = append(text, cost)
	}
	b.WriteString(fencedBlock("text", strings.Join(text, "\n")))
	if output := escapeLines(strings.Join(outputLines(o), "\n")); !o.Quiet {
		if cut := len(output) - markdownOutput; cut > 0 {
			output = fmt.Sprintf("… %d bytes before these\n", cut+countDropped(o, outputLines(o))) + strings.ToValidUTF8(output[cut:], "")
		}
		b.WriteString(fencedBlock("text", output))
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

// maxMarkdownDiff is how many bytes of a diff are shown.
const maxMarkdownDiff = 8_000

// diffBlock returns a block that can be opened, with what of a text changes.
func diffBlock(o *model.ResourceReport) string {
	diff := escapeLines(o.Diff)
	if cut := len(diff) - maxMarkdownDiff; cut > 0 {
		diff = strings.ToValidUTF8(diff[:maxMarkdownDiff], "") + fmt.Sprintf("\n… %d bytes more", cut)
	}
	return fmt.Sprintf("<details><summary>%s %s %s: %s</summary>\n\n%s</details>\n\n", emblems[symbol(o)],
		htmlCode(o.ID), resultText(o), htmlCode(o.Reason), fencedBlock("diff", diff))
}

// fencedBlock returns a block of code whose fence is longer than any in the text.
func fencedBlock(language, text string) string {
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
	return fence + language + "\n" + text + "\n" + fence + "\n\n"
}
