package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
)

// listed is one resource of `settle list -o json`.
type listed struct {
	ID          string   `json:"id"`
	Alias       string   `json:"alias"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	File        string   `json:"file"`
	Line        int      `json:"line"`
}

type listCommand struct {
	manifestArg
	selectFlags
	valueFlags
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"Output format: text or json."`
}

// Help is shown by settle list --help.
func (*listCommand) Help() string {
	return `Examples:

    settle list site.yaml
    settle list --tags web site.yaml     the resources that a selection contains
    settle list -o json site.yaml | jq -r '.resources[].id'`
}

func (c *listCommand) run(a *app) []exit.Ending {
	l := a.loadAlone(c.Manifest, order{mode: "list"}, c.valueFlags)
	selectResources([]*loaded{l}, c.selection())
	if l.refused != nil {
		return []exit.Ending{a.reportRefusal(l, c.Output)}
	}
	rows := make([]listed, len(l.manifest.Resources))
	for i := range l.manifest.Resources {
		r := &l.manifest.Resources[i]
		rows[i] = listed{r.ID(), r.Alias, l.mask.Redact(r.Description), append([]string{}, r.Tags...), r.File, r.Line}
	}
	if c.Output == "json" {
		a.print(render.Document(map[string][]listed{"resources": rows}))
	} else {
		a.print(listText(rows))
	}
	return []exit.Ending{{Report: &l.report}}
}

func listText(rows []listed) []byte {
	if len(rows) == 0 {
		return []byte("no resources\n")
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, r := range rows {
		about := r.Description
		if r.Alias != "" {
			about = strings.TrimSpace("(" + r.Alias + ") " + about)
		}
		if len(r.Tags) > 0 {
			about = strings.TrimSpace(about + " [" + strings.Join(r.Tags, ", ") + "]")
		}
		_, _ = fmt.Fprintf(w, "%s\t%s:%d\t%s\n", render.Escape(r.ID), render.Escape(r.File), r.Line, render.Escape(about)) // a bytes.Buffer takes every write
	}
	_ = w.Flush() // as above
	var out bytes.Buffer
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.Bytes()
}
