package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
	"github.com/settle-cm/settle/resources"
)

// loaded is one manifest with everything that a command knows about it.
type loaded struct {
	report   model.Report
	manifest *model.Manifest // the selected resources; nil when the manifest was refused
	whole    *model.Manifest
	src      manifests.Source
	files    *source.Files // reads the manifest and its includes
	refused  *exit.Refusal
	secrets  []string         // the values of the manifest's secrets
	tally    *helperTally     // of its helpers; nil before it is counted
	mask     *secret.Redactor // of the secrets; nil without secrets
}

// order says how to load a manifest.
type order struct {
	mode   string
	strict bool
	world  resources.World
	named  bool // no more than its name: it may have problems, and what it includes may be missing
	inputs      // what it is filled in with
}

// load reads and decodes one manifest. The result holds its problems.
func (a *app) load(ctx context.Context, path string, o order) *loaded {
	if path == "" {
		path = source.DefaultManifest
	}
	if o.refused != nil {
		l := &loaded{report: newReport(o.mode, path)}
		l.refuse(o.refused)
		return l
	}
	src, files, err := source.ReadManifest(ctx, path, a.in)
	if err != nil {
		return newUnreadable(o.mode, path, err)
	}
	o.Include, o.Peek = src.Include, src.Peek
	src.Inputs = o.Inputs
	l := &loaded{report: newReport(o.mode, path), src: src, files: files}
	o.world.Run = l.report.Run
	o.world.Mask = func() func([]byte, bool) []byte { return l.mask.Stream() } // the secrets are known once the manifest is
	m, problems, warnings := o.read(src)
	if m != nil {
		warnings = append(warnings, l.makeRedactor(m, src.Environ)...)
	}
	if os.Geteuid() == 0 && o.mode != "validate" {
		warnings = append(warnings, warnExposed(files.Exposed, "others may write this manifest, and root runs what it says")...)
		warnings = append(warnings, warnExposed(o.exposed, "others may write this file, and root runs what its values say")...)
	}
	if o.strict {
		problems, warnings = append(problems, warnings...).Sort(), nil
	}
	l.report.Problems, l.report.Warnings = problems, warnings
	if m != nil {
		l.report.Name = m.Name
	}
	switch {
	case ctx.Err() != nil:
		l.refuse(exit.Refuse(exit.Unreadable, "%s: %w", path, context.Cause(ctx)))
	case len(problems) > 0:
		l.report.Name = manifests.Name(src)
		l.refuse(exit.Refuse(exit.Invalid, "%s: %s", path, countNoun(len(problems), "problem")))
	default:
		l.manifest, l.whole = m, m
	}
	return l
}

// warnExposed warns of files that others may write.
func warnExposed(files []string, message string) []model.Problem {
	var warnings []model.Problem
	for _, file := range files {
		warnings = append(warnings, model.Problem{Pos: model.Pos{File: file}, Message: message, Suggestion: "chmod go-w " + file})
	}
	return warnings
}

func (o *order) read(src manifests.Source) (m *model.Manifest, problems, warnings model.Problems) {
	if o.named {
		m, problems = manifests.Identify(src)
		return m, problems, nil
	}
	return manifests.Load(src, resources.Types(o.world))
}

// loadAlone loads a manifest for a command that only needs signals handled while
// it loads.
func (a *app) loadAlone(path string, o order, f valueFlags) *loaded {
	ctx, stop := a.withSignals(context.Background(), 0)
	defer stop()
	o.inputs = a.inputs(ctx, f, path)
	return a.load(ctx, path, o)
}

// newUnreadable returns a manifest that is refused because it cannot be read.
func newUnreadable(mode, path string, err error) *loaded {
	l := &loaded{report: newReport(mode, path)}
	l.refuse(exit.Refuse(exit.Unreadable, "%s: %w", path, err))
	return l
}

// makeRedactor builds the redactor for a manifest's secrets: the values that settle's
// own environment and the manifest give to their names. It returns warnings for
// values that cannot be redacted.
func (l *loaded) makeRedactor(m *model.Manifest, environ []string) []model.Problem {
	values := m.SecretValues
	for _, name := range m.Secrets {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok && value != "" {
				values = append(values, value)
			}
		}
	}
	mask, short := secret.New(values)
	l.secrets, l.mask = values, mask
	warnings := l.warnNamedSecrets(m)
	if mask.Redact(m.Name) != m.Name {
		warnings = append(warnings, model.Problem{
			Pos: model.Pos{File: l.report.Manifest}, Message: "a secret is in the name of this manifest, which is shown as it stands",
			Suggestion: "give it a name without the secret",
		})
	}
	if len(short) > 0 {
		warnings = append(warnings, model.Problem{
			Pos:     model.Pos{File: l.report.Manifest},
			Message: fmt.Sprintf("%s of secrets too short to hide: fewer than four characters", countNoun(len(short), "value")),
		})
	}
	return warnings
}

// warnNamedSecrets warns of secrets in names, aliases and tags. Reports show those
// unredacted, because they identify a resource.
func (l *loaded) warnNamedSecrets(m *model.Manifest) []model.Problem {
	if l.mask == nil {
		return nil
	}
	var warnings []model.Problem
	for i := range m.Resources {
		r := &m.Resources[i]
		for _, word := range append([]string{r.Name, r.Alias}, r.Tags...) {
			if l.mask.Redact(word) != word {
				warnings = append(warnings, model.Problem{
					Pos: r.Pos, Message: "a secret is in the name, the alias or a tag of this resource, which are shown as they stand",
					Suggestion: "give it a name of its own, and put the secret into a property",
				})
				break
			}
		}
	}
	return warnings
}

// refuse records why the manifest is not run.
func (l *loaded) refuse(r *exit.Refusal) { l.refused = r }

// code returns the exit code for this manifest alone.
func (l *loaded) code() int { return exit.Code(exit.Ending{Refused: l.refused, Report: &l.report}) }

// countNoun returns "1 problem", "2 problems".
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// printProblems prints why a command that makes no report cannot do its work, to
// standard error and as annotations of the pipeline.
func (a *app) printProblems(l *loaded) {
	p := publish.NewPipeline("auto", a.err, a.Quiet) // first: it fences off what follows
	publish.PrintProblems(a.err, &l.report, a.Quiet)
	p.Annotate([]model.Report{l.report})
}

// reportRefusal prints why a manifest was refused, in the format that was asked for.
func (a *app) reportRefusal(l *loaded, format string) exit.Ending {
	e := exit.Ending{Refused: l.refused, Report: &l.report}
	e.Finish()
	a.printProblems(l)
	if format == "json" {
		a.print(render.JSON([]model.Report{l.report}, render.Options{}))
	}
	return e
}
