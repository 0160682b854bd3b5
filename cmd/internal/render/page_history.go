package render

import (
	"fmt"
	"html"
	"html/template"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// PastRun is one run of a history.
type PastRun struct {
	model.RunRecord
	Report *model.Report // nil when only the record is left
}

// pageIndex is the list of runs on the page of a history.
type pageIndex struct {
	Heading, Manifest string
	Trends            []template.HTML
	Rows              []indexRow
}

// indexRow is one run. Its Href is empty when its report is not on the page.
type indexRow struct {
	style
	Href, Run, Started, Took, User, End string
	Changed, Failed, Total              int
}

// maxIndexResources bounds the size of a history's page: the reports of older runs
// are left out beyond this number of resources.
const maxIndexResources = 20_000

// HistoryPage returns the history of a manifest as a page: trends, a list of the
// runs, and the report of each run that is still known. Runs come newest first.
func HistoryPage(name, manifest string, runs []PastRun) []byte {
	index := &pageIndex{Heading: Escape(name), Manifest: Escape(manifest)}
	p := page{Title: index.Heading + ": settle history", Index: index}
	resources := 0
	for i := range runs {
		r := &runs[i]
		row := newIndexRow(&r.RunRecord)
		if r.Report != nil {
			resources += len(r.Report.Resources)
		}
		if r.Report != nil && resources <= maxIndexResources {
			var o Options
			run := newPageRun(r.Report, o.trace(0, r.Report), i)
			row.Href = "#" + run.Key
			p.Runs = append(p.Runs, run)
		}
		index.Rows = append(index.Rows, row)
	}
	if len(runs) > 1 {
		index.Trends = drawTrends(runs, index.Rows)
	}
	return p.bytes()
}

func newIndexRow(r *model.RunRecord) indexRow {
	n := &r.Summary.Count
	status := model.Stable
	switch {
	case r.ExitCode == nil && !r.Running, n[model.Failed]+n[model.Interrupted] > 0, r.ExitCode != nil && *r.ExitCode != 0 && *r.ExitCode != 2:
		status = model.Failed
	case n[model.Changed] > 0:
		status = model.Changed
	}
	return indexRow{
		style: statusStyle(status), Run: r.Run, Started: r.Started.UTC().Format(time.DateTime), Took: Duration(r.DurationMS),
		User: Escape(r.User), End: endOfRun(r), Changed: n[model.Changed], Failed: n[model.Failed], Total: r.Summary.Total,
	}
}

// The size of a trend in pixels.
const (
	trendHeight = 56
	trendBar    = 14
	trendGap    = 3
)

// drawTrends returns a bar chart of duration, changed and failed resources, with
// the oldest run on the left.
func drawTrends(runs []PastRun, rows []indexRow) []template.HTML {
	return []template.HTML{
		drawTrend("Duration", rows, func(i int) (int64, string) { return runs[i].DurationMS, rows[i].Took }),
		drawTrend("Changed", rows, func(i int) (int64, string) { return int64(rows[i].Changed), fmt.Sprint(rows[i].Changed) }),
		drawTrend("Failed", rows, func(i int) (int64, string) { return int64(rows[i].Failed), fmt.Sprint(rows[i].Failed) }),
	}
}

func drawTrend(title string, rows []indexRow, value func(i int) (n int64, text string)) template.HTML {
	most, mostText := int64(0), "0"
	for i := range rows {
		if n, text := value(i); n > most {
			most, mostText = n, text
		}
	}
	var b strings.Builder
	width := len(rows) * (trendBar + trendGap)
	fmt.Fprintf(&b, `<figure class="trend"><figcaption>%s <span>(at most %s)</span></figcaption><svg class="timeline" width="%d" height="%d" role="img" aria-label="%s of each run">`+"\n",
		title, html.EscapeString(mostText), width, trendHeight, title)
	for i := range rows {
		n, text := value(i)
		height := int(n * int64(trendHeight) / max(most, 1))
		if n > 0 {
			height = max(height, 2)
		}
		row := &rows[i]
		bar := fmt.Sprintf(`<g class="%s"><title>%s: %s</title><rect x="%d" y="%d" width="%d" height="%d"/></g>`,
			row.Tone, html.EscapeString(row.Started), html.EscapeString(text), width-(i+1)*(trendBar+trendGap), trendHeight-height, trendBar, height)
		if row.Href != "" {
			bar = fmt.Sprintf(`<a href="%s">%s</a>`, row.Href, bar)
		}
		b.WriteString(bar + "\n")
	}
	b.WriteString("</svg></figure>\n")
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped
}
