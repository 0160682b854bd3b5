package main

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
)

// detectCI returns the system that runs the pipeline: the one that was named,
// or the one that its variables give away.
func detectCI(flag string) string {
	switch {
	case flag != "auto":
		return flag
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	case os.Getenv("GITLAB_CI") == "true":
		return "gitlab"
	}
	return "none"
}

// pipeline is the CI system around this process, if there is one, and what is
// told to it in its own way.
type pipeline struct {
	*app
	system   string
	sections *sections // gitlab's; of the manifest that is walked
}

func (a *app) newPipeline(flag string) *pipeline {
	p := &pipeline{app: a, system: detectCI(flag)}
	if p.system == "github" {
		a.err.SetFence(render.Fence("settle-" + rand.Text()))
	}
	return p
}

// hide makes the pipeline hide secrets, before anything else is said.
func (p *pipeline) hide(all []*loaded) {
	if p.system != "github" {
		return
	}
	for _, l := range all {
		if l.mask != nil {
			p.err.WriteCommand(render.MaskCommands(l.secrets))
		}
	}
}

// begin is called before a manifest is walked.
func (p *pipeline) begin(m *model.Manifest) {
	if p.system == "gitlab" && !p.Quiet {
		p.sections = newSections(p.err, m)
	}
}

// output shows a line of a resource's output, unless the caller has to.
func (p *pipeline) output(n int, line []byte) (shown bool) {
	if p.sections == nil {
		return false
	}
	p.sections.line(n, line)
	return true
}

// finished is called for every resource.
func (p *pipeline) finished(n int, o *model.ResourceReport) {
	if p.sections != nil {
		p.sections.finished(n, o)
	}
}

// inert spells out in a result what the pipeline would take for a command.
func (p *pipeline) inert(text []byte) []byte {
	if p.system == "github" {
		return render.EscapeCommands(text)
	}
	return text
}

// inertJSON does the same to JSON, without changing its value.
func (p *pipeline) inertJSON(doc []byte) []byte {
	if p.system == "github" {
		return render.EscapeCommandsJSON(doc)
	}
	return doc
}

// end is called when all manifests have been. The annotations follow the result,
// where that is a text for people; where it is for programs they stand beside it.
func (p *pipeline) end(reports []model.Report, people bool) {
	if p.system != "github" {
		return
	}
	p.err.WriteCommand(nil)
	if people {
		p.annotate(reports, p.print)
	} else {
		p.annotate(reports, p.err.WriteCommand)
	}
	p.hand("GITHUB_STEP_SUMMARY", render.Markdown(reports, render.Options{}))
	p.hand("GITHUB_OUTPUT", render.Outputs(reports))
}

// annotate shows failures beside the lines of the manifests.
func (p *pipeline) annotate(reports []model.Report, write func([]byte)) {
	if p.system == "github" {
		write(render.Annotations(reports, inWorkspace))
	}
}

// hand adds to a file that the pipeline names in a variable. A pipeline that does
// not get it is told, but what was asked for is done.
func (p *pipeline) hand(variable string, text []byte) {
	path := os.Getenv(variable)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		_, err = file.Write(text)
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		p.err.PrintError("write $" + variable + ": " + err.Error())
	}
}

// inWorkspace turns a path into the one that the repository knows.
func inWorkspace(file string) string {
	root := os.Getenv("GITHUB_WORKSPACE")
	path, err := filepath.Abs(file)
	if root == "" || err != nil {
		return file
	}
	for _, resolve := range []func(string) (string, error){clean, filepath.EvalSymlinks} {
		from, err := resolve(root)
		to, err2 := resolve(path)
		if err != nil || err2 != nil {
			continue
		}
		if rel, err := filepath.Rel(from, to); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

func clean(path string) (string, error) { return filepath.Clean(path), nil }

// complainAlone says why a command that makes no report cannot do its work, to
// people and to the pipeline.
func (a *app) complainAlone(l *loaded) {
	p := a.newPipeline("auto") // first: it fences what is said
	a.complainOf(l)
	p.annotate([]model.Report{l.report}, a.err.WriteCommand)
}
