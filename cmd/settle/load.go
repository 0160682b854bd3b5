package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
	"github.com/settle-cm/settle/resources"
)

// loaded is one manifest on its way through a command: what is known of it so far.
type loaded struct {
	report   model.Report
	manifest *model.Manifest // what is selected of it; nil when it was refused
	whole    *model.Manifest
	src      manifests.Source
	files    *reader // that read it, and what it includes
	refused  *refusal
	secrets  []string         // the values of the manifest's secrets
	tally    *helperTally     // of its helpers, once it is counted
	mask     *secret.Redactor // of them; nil when it has none
}

// order is what a manifest is loaded for.
type order struct {
	mode   string
	strict bool
	world  resources.World
	named  bool // no more than its name: it may have problems, and what it includes may be missing
	inputs      // what it is filled in with
}

// load reads and decodes one manifest. What is wrong with it is in the result.
func (a *app) load(ctx context.Context, path string, o order) *loaded {
	if path == "" {
		path = defaultManifest
	}
	if o.refused != nil {
		l := &loaded{report: newReport(o.mode, path)}
		l.refuse(o.refused)
		return l
	}
	src, files, err := a.read(ctx, path)
	if err != nil {
		return unread(o.mode, path, err)
	}
	o.Include = src.Include
	src.Inputs = o.Inputs
	l := &loaded{report: newReport(o.mode, path), src: src, files: files}
	o.world.Run = l.report.Run
	o.world.Mask = func() func([]byte, bool) []byte { return l.mask.Stream() } // the secrets are known once the manifest is
	m, problems, warnings := o.read(src)
	if m != nil {
		warnings = append(warnings, l.hide(m, src.Environ)...)
	}
	if os.Geteuid() == 0 && o.mode != "validate" {
		warnings = append(warnings, exposed(files.exposed, "others may write this manifest, and root runs what it says")...)
		warnings = append(warnings, exposed(o.exposed, "others may write this file, and root runs what its values say")...)
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
		l.refuse(refuse(exitUnreadable, "%s: %w", path, context.Cause(ctx)))
	case len(problems) > 0:
		l.report.Name = manifests.Name(src)
		l.refuse(refuse(exitInvalid, "%s: %s", path, counted(len(problems), "problem")))
	default:
		l.manifest, l.whole = m, m
	}
	return l
}

// exposed warns of files that others may write.
func exposed(files []string, message string) []model.Problem {
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

// loadAlone is load for a command that does nothing while it could be interrupted.
func (a *app) loadAlone(path string, o order, f valueFlags) *loaded {
	ctx, stop := a.interruptible(context.Background(), 0)
	defer stop()
	o.inputs = a.inputs(ctx, f, path)
	return a.load(ctx, path, o)
}

// unread is a manifest that cannot be read.
func unread(mode, path string, err error) *loaded {
	l := &loaded{report: newReport(mode, path)}
	l.refuse(refuse(exitUnreadable, "%s: %w", path, err))
	return l
}

// hide makes the mask of a manifest's secrets: the values that settle's own
// environment and the manifest give to their names. It warns of what the mask
// cannot hide.
func (l *loaded) hide(m *model.Manifest, environ []string) []model.Problem {
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
	warnings := l.named(m)
	if mask.Redact(m.Name) != m.Name {
		warnings = append(warnings, model.Problem{
			Pos: model.Pos{File: l.report.Manifest}, Message: "a secret is in the name of this manifest, which is shown as it stands",
			Suggestion: "give it a name without the secret",
		})
	}
	if len(short) > 0 {
		warnings = append(warnings, model.Problem{
			Pos:     model.Pos{File: l.report.Manifest},
			Message: fmt.Sprintf("%s of secrets too short to hide: fewer than four characters", counted(len(short), "value")),
		})
	}
	return warnings
}

// named warns of secrets in what resources are called and selected by: that is
// shown as it stands, or nobody could tell which resource is meant.
func (l *loaded) named(m *model.Manifest) []model.Problem {
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

// refuse sets why the manifest is not run.
func (l *loaded) refuse(r *refusal) { l.refused = r }

// code is what the manifest alone would make settle exit with.
func (l *loaded) code() int { return exitCode(ending{refused: l.refused, report: &l.report}) }

// counted returns "1 problem", "2 problems".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
