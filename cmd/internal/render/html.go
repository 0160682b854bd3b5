package render

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // style, script and template of the page
	"encoding/base64"
	"html/template"
	"sync"

	"github.com/settle-cm/settle/model"
)

//go:embed assets/report.css
var pageCSS string

//go:embed assets/report.js
var pageJS string

//go:embed assets/page.html
var pageText string

// pageTemplate is parsed when a page is asked for: it is a tenth of the time in
// which settle starts.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// page is what the template shows. The page loads nothing and can be mailed:
// style and script stand in it, and its policy allows these two, by hash, and
// nothing else, whatever a command wrote.
type page struct {
	Title   string
	Policy  string
	CSS     template.CSS
	JS      template.JS
	Runs    []pageRun
	Drawing template.HTML // of a graph that is shown without a run
	Counted string
}

// HTML is the report as a page: what became of each resource, how they hang
// together, and what ran when.
func HTML(reports []model.Report, o Options) []byte {
	p := page{}
	for i := range reports {
		run := newPageRun(&reports[i], o.trace(i), i)
		p.Runs = append(p.Runs, run)
		if i == 0 {
			p.Title = "settle " + run.Mode + " " + run.Manifest + ": " + run.Verdict
		}
	}
	return p.bytes()
}

// graphPage draws a graph on a page of its own.
func graphPage(g Graph) []byte {
	f := newFigure(g)
	p := page{Title: "settle graph", Drawing: template.HTML(f.svg("")), Counted: count(len(g.Nodes), "resource")} //nolint:gosec // svg escapes all texts
	return p.bytes()
}

func (p *page) bytes() []byte {
	css := pageCSS + graphCSS
	p.CSS, p.JS = template.CSS(css), template.JS(pageJS) //nolint:gosec // our own files
	p.Policy = "default-src 'none'; style-src " + hashOf(css) + "; script-src " + hashOf(pageJS) + "; base-uri 'none'; form-action 'none'"
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, p); err != nil {
		panic(err) // our own template over our own types
	}
	return b.Bytes()
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
