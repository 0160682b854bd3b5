// Package page writes where a fleet stands as one HTML page. The page loads
// nothing, so it can be mailed or kept with a pipeline's other results.
package page

import (
	"crypto/sha256"
	_ "embed" // the style and the script
	"encoding/base64"
	"fmt"
	"html"
	"strings"
	"time"
)

//go:embed page.css
var css string

//go:embed page.js
var js string

// Fleet is what one page shows.
type Fleet struct {
	Name     string
	Selector string // "" for every machine
	At       time.Time
	Machines int
	Failed   int
	Counts   []Count
	Rollouts []string // a line for each release name
	Failures []Failure
	Silent   []Silent
	Rows     []Row
}

// Count is how many machines have a release in a state.
type Count struct {
	Release, State string
	Machines       int
}

// Failure is a reason and the machines that fail for it.
type Failure struct {
	Reason   string
	Machines []string
}

// Silent is a machine that was not heard for two intervals.
type Silent struct {
	Machine string
	Since   time.Time
}

// Row is one release on one machine.
type Row struct {
	Machine, Release, State string
	Bad                     bool
	Notes                   string
	Run                     string // id of the last run, "" without one
}

const timeForm = "2006-01-02 15:04:05"

// HTML returns the page of a fleet. Everything that machines tell is escaped, and the
// page's policy allows its own style and script only: a machine that was taken over
// must not reach the browser of an operator.
func HTML(f *Fleet) []byte {
	w := &writer{}
	w.head(f)
	w.counts(f)
	w.rollouts(f)
	w.failures(f)
	w.silent(f)
	w.rows(f)
	w.WriteString("</main>\n<script>" + js + "</script>\n</body>\n</html>\n")
	return []byte(w.String())
}

type writer struct{ strings.Builder }

// put writes a format whose arguments are escaped.
func (w *writer) put(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = html.EscapeString(text)
		}
	}
	fmt.Fprintf(w, format, args...)
}

func (w *writer) head(f *Fleet) {
	policy := "default-src 'none'; style-src " + hashOf(css) + "; script-src " + hashOf(js) + "; base-uri 'none'; form-action 'none'"
	w.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	w.put("<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy)
	w.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	tone, verdict := "good", "all well"
	var bad []string
	if f.Failed > 0 {
		bad = append(bad, fmt.Sprintf("%d failed", f.Failed))
	}
	if len(f.Silent) > 0 {
		bad = append(bad, fmt.Sprintf("%d silent", len(f.Silent)))
	}
	if len(bad) > 0 {
		tone, verdict = "bad", strings.Join(bad, ", ")
	}
	w.put("<title>fleet %s: %s</title>\n<style>", f.Name, verdict)
	w.WriteString(css + "</style>\n</head>\n<body>\n<main>\n")
	w.put("<header class=\"top\"><div><p class=\"soft\">settle-fleet machines %s</p><h1>%s</h1></div><p class=\"verdict %s\">%s</p></header>\n", f.Selector, f.Name, tone, verdict)
	w.put("<p class=\"soft\">%s, as the broker has it at %s UTC</p>\n", machines(f.Machines), f.At.UTC().Format(timeForm))
}

func (w *writer) counts(f *Fleet) {
	w.WriteString("<p class=\"tiles\">")
	for _, c := range f.Counts {
		tone := "bad"
		if c.State == "ok" || c.State == "planned" {
			tone = "good"
		}
		w.put("<span class=\"tile %s\">%s %s <b>%d</b></span> ", tone, c.Release, c.State, c.Machines)
	}
	w.WriteString("</p>\n")
}

func (w *writer) rollouts(f *Fleet) {
	if len(f.Rollouts) == 0 {
		return
	}
	w.WriteString("<section class=\"card\"><h2>Rollouts</h2><ul>\n")
	for _, line := range f.Rollouts {
		w.put("<li>%s</li>\n", line)
	}
	w.WriteString("</ul></section>\n")
}

func (w *writer) failures(f *Fleet) {
	if len(f.Failures) == 0 {
		return
	}
	w.WriteString("<section class=\"card bad\"><h2>Failures</h2>\n")
	for _, failure := range f.Failures {
		w.put("<details><summary><b>%s</b>: %s</summary><p class=\"names\">", machines(len(failure.Machines)), failure.Reason)
		for _, name := range failure.Machines {
			w.put("<a href=\"#%s\">%s</a> ", "m-"+name, name)
		}
		w.WriteString("</p></details>\n")
	}
	w.WriteString("</section>\n")
}

// openUpTo is how many silent machines are listed without a click.
const openUpTo = 20

func (w *writer) silent(f *Fleet) {
	if len(f.Silent) == 0 {
		return
	}
	open := ""
	if len(f.Silent) <= openUpTo {
		open = " open"
	}
	w.put("<details class=\"card bad\""+open+"><summary><h2>%d silent</h2></summary><p class=\"names\">", len(f.Silent))
	for _, m := range f.Silent {
		w.put("<a href=\"#%s\">%s</a> since %s<br>", "m-"+m.Machine, m.Machine, m.Since.UTC().Format(timeForm))
	}
	w.WriteString("</p></details>\n")
}

func (w *writer) rows(f *Fleet) {
	w.WriteString("<section><div class=\"tools\"><h2>Machines</h2><input type=\"search\" id=\"find\" placeholder=\"Find: name, state, reason\" aria-label=\"Find machines\"><span id=\"shown\" class=\"soft\" role=\"status\"></span></div>\n")
	w.WriteString("<table><thead><tr><th>machine</th><th>release</th><th>state</th><th>notes</th><th>last report</th></tr></thead><tbody>\n")
	last := ""
	for _, r := range f.Rows {
		w.WriteString("<tr")
		if r.Machine != last { // the first row of a machine is the one that links lead to
			w.put(" id=\"%s\"", "m-"+r.Machine)
			last = r.Machine
		}
		if r.Bad {
			w.WriteString(" class=\"bad\"")
		}
		w.put("><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>", r.Machine, r.Release, r.State, r.Notes)
		if r.Run != "" {
			w.put("<code>settle-fleet show %s %s</code>", r.Machine, r.Run)
		}
		w.WriteString("</td></tr>\n")
	}
	w.WriteString("</tbody></table></section>\n")
}

func machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", n)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
