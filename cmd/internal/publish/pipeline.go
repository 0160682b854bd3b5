package publish

import (
	"cmp"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
)

// detectCI returns the system that runs the pipeline: the value of --ci, or with
// auto the system whose environment variables are set.
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

// Pipeline is the CI system around this process, if there is one. It gets
// annotations, sections and summaries in the form that it understands.
type Pipeline struct {
	console  *terminal.Console
	quiet    bool
	system   string
	sections *sections // of GitLab, for the manifest that is run
}

// NewPipeline returns the pipeline for a value of --ci. From here on commands in
// the output of others are fenced off.
func NewPipeline(flag string, c *terminal.Console, quiet bool) *Pipeline {
	p := &Pipeline{console: c, quiet: quiet, system: detectCI(flag)}
	if p.system == "github" {
		c.SetFence(render.Fence("settle-" + rand.Text()))
	}
	return p
}

// hideSecrets asks the pipeline to hide values in its log.
func (p *Pipeline) hideSecrets(values []string) {
	if p.system == "github" {
		p.console.WriteCommand(render.MaskCommands(values))
	}
}

// begin is called before a manifest is walked.
func (p *Pipeline) begin(m *model.Manifest) {
	if p.system == "gitlab" && !p.quiet {
		p.sections = newSections(p.console, m)
	}
}

// printOutput writes a line of a resource's output into its section. It returns
// false when the pipeline has no sections.
func (p *Pipeline) printOutput(n int, line []byte) (printed bool) {
	if p.sections == nil {
		return false
	}
	p.sections.printLine(n, line)
	return true
}

// finished ends the section of a resource.
func (p *Pipeline) finished(n int, o *model.ResourceReport) {
	if p.sections != nil {
		p.sections.finished(n, o)
	}
}

// EscapeText changes lines of a text that the pipeline would read as commands.
func (p *Pipeline) EscapeText(text []byte) []byte {
	if p.system == "github" {
		return render.EscapeCommands(text)
	}
	return text
}

// EscapeJSON does the same to JSON, without changing its value.
func (p *Pipeline) EscapeJSON(doc []byte) []byte {
	if p.system == "github" {
		return render.EscapeCommandsJSON(doc)
	}
	return doc
}

// end is called when all manifests have been run. Annotations follow a report in
// text form on standard output. With other formats they go to standard error.
func (p *Pipeline) end(reports []model.Report, asText bool, print func([]byte)) {
	if p.system != "github" {
		return
	}
	p.console.WriteCommand(nil)
	if asText {
		p.annotate(reports, print)
	} else {
		p.annotate(reports, p.console.WriteCommand)
	}
	p.appendTo("GITHUB_STEP_SUMMARY", render.Markdown(reports, render.Options{}))
	p.appendTo("GITHUB_OUTPUT", render.Outputs(reports))
}

// Annotate makes the pipeline show failures beside the lines of the manifests.
func (p *Pipeline) Annotate(reports []model.Report) { p.annotate(reports, p.console.WriteCommand) }

func (p *Pipeline) annotate(reports []model.Report, write func([]byte)) {
	if p.system == "github" {
		write(render.Annotations(reports, pathInWorkspace))
	}
}

// appendTo appends to the file that the pipeline names in a variable. An error is
// printed, and does not change how the run ended.
func (p *Pipeline) appendTo(variable string, text []byte) {
	path := os.Getenv(variable)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		_, err = file.Write(text)
		err = cmp.Or(err, file.Close())
	}
	if err != nil {
		p.console.PrintError("write $" + variable + ": " + err.Error())
	}
}

// pathInWorkspace returns a path relative to the top of the repository.
func pathInWorkspace(file string) string {
	root := os.Getenv("GITHUB_WORKSPACE")
	path, err := filepath.Abs(file)
	if root == "" || err != nil {
		return file
	}
	for _, resolve := range []func(string) (string, error){cleanPath, filepath.EvalSymlinks} {
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

func cleanPath(path string) (string, error) { return filepath.Clean(path), nil }
