package main

import (
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
	refused  *refusal
	secrets  []string     // the values of the manifest's secrets
	tally    *helperTally // of its helpers, once it is counted
	mask     *secret.Mask // of them; nil when it has none
}

// load reads and decodes one manifest. What is wrong with it is in the result.
func (a *app) load(mode, path string, strict bool, world resources.World) *loaded {
	if path == "" {
		path = defaultManifest
	}
	src, exposed, err := readSource(path, a.in)
	if err != nil {
		return unread(mode, path, err)
	}
	l := &loaded{report: newReport(mode, path), src: src}
	world.Run = l.report.Run
	world.Mask = func() func([]byte, bool) []byte { return l.mask.Stream() } // the secrets are known once the manifest is
	m, problems, warnings := manifests.Load(src, resources.Types(world))
	if exposed && os.Geteuid() == 0 && mode != "validate" {
		warnings = append(warnings, model.Problem{
			Pos: model.Pos{File: path}, Message: "others may write this manifest, and root runs what it says",
			Suggestion: "chmod go-w " + path,
		})
	}
	if strict {
		problems, warnings = append(problems, warnings...).Sort(), nil
	}
	l.report.Problems, l.report.Warnings = problems, warnings
	if m != nil {
		l.report.Name = m.Name
	}
	if len(problems) > 0 {
		l.report.Name = manifests.Name(src)
		l.refuse(refuse(exitInvalid, "%s: %s", path, counted(len(problems), "problem")))
		return l
	}
	l.manifest, l.whole = m, m
	l.hide(src.Environ)
	return l
}

// unread is a manifest that cannot be read.
func unread(mode, path string, err error) *loaded {
	l := &loaded{report: newReport(mode, path)}
	l.refuse(refuse(exitUnreadable, "%s: %w", path, err))
	return l
}

// hide makes the mask of the manifest's secrets: the values that settle's own
// environment and the manifest give to their names.
func (l *loaded) hide(environ []string) {
	values := l.manifest.SecretValues
	for _, name := range l.manifest.Secrets {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok && value != "" {
				values = append(values, value)
			}
		}
	}
	mask, short := secret.New(values)
	l.secrets, l.mask = values, mask
	if len(short) > 0 {
		l.report.Warnings = append(l.report.Warnings, model.Problem{
			Pos:     model.Pos{File: l.report.Manifest},
			Message: fmt.Sprintf("%s of secrets too short to hide: fewer than four characters", counted(len(short), "value")),
		})
	}
}

// refuse notes why the manifest is not run.
func (l *loaded) refuse(r *refusal) {
	l.refused, l.report.Error = r, r.Error()
}

// code is what the manifest alone would make settle exit with.
func (l *loaded) code() int { return exitCode(ending{refused: l.refused, report: &l.report}) }

// counted returns "1 problem", "2 problems".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
