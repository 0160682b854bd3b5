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

// pageTemplate is parsed when a page is written: parsing takes a tenth of the time
// in which settle starts.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// page is the data of the template. The page loads nothing and can be mailed: it
// contains its style and its script, and its policy allows these two by hash and
// nothing else, whatever the output of a command contains.
type page struct {
	Title   string
	Policy  string
	CSS     template.CSS
	JS      template.JS
	Index   *pageIndex // of a history
	Runs    []pageRun
	Drawing template.HTML // a graph without a run
	Counted string
	Legend  []edgeStyle // of that graph
}

// HTML returns reports as a page: the result of each resource, their graph, and
// when each ran.
func HTML(reports []model.Report, o Options) []byte {
	p := page{}
	for i := range reports {
		run := newPageRun(&reports[i], o.trace(i, &reports[i]), i)
		p.Runs = append(p.Runs, run)
		if i == 0 {
			p.Title = run.Heading + ": settle " + run.Mode + ", " + run.Verdict
		}
	}
	return p.bytes()
}

// renderGraphPage returns a graph on a page of its own.
func renderGraphPage(g Graph) []byte {
	f := newFigure(g)
	p := page{Title: "settle graph", Drawing: template.HTML(f.svg("")), Counted: countOf(len(g.Nodes), "resource"), Legend: usedEdgeStyles(g.Edges)} //nolint:gosec // svg escapes every text
	return p.bytes()
}

func (p *page) bytes() []byte {
	css := pageCSS + graphCSS
	p.CSS, p.JS = template.CSS(css), template.JS(pageJS) //nolint:gosec // our own files
	p.Policy = "default-src 'none'; style-src " + hashOf(css) + "; script-src " + hashOf(pageJS) + "; base-uri 'none'; form-action 'none'"
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, p); err != nil {
		panic(err) // only a mistake in our own template can fail
	}
	return b.Bytes()
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
