package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/helper"
	"github.com/settle-cm/settle/providers/posix"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/resources/exec"
	"github.com/settle-cm/settle/resources/provision"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// helperCommands are for people who write helpers.
type helperCommands struct {
	Input helperInputCommand `cmd:"" help:"Print the exact input that a helper would get now. It contains secrets."`
	Run   helperRunCommand   `cmd:"" help:"Run a helper once and show how settle reads its answer. Writes nothing."`
	Test  helperTestCommand  `cmd:"" help:"Test a helper with servers of every kind, and with cases from a directory."`
}

type helperInputCommand struct {
	manifestArg
	valueFlags
	Only string `placeholder:"REF" help:"The resource (provision#name). Default: the only provision resource."`
}

// trialFlags say how to ask.
type trialFlags struct {
	Helper   string `required:"" placeholder:"CMD" help:"The helper command with its arguments. It runs without a shell."`
	Timeout  span   `default:"10s" placeholder:"TIME" help:"Time limit of the helper. Default: 10s."`
	Upgrades bool   `help:"Test with the feature upgrades enabled."`
}

type helperRunCommand struct {
	trialFlags
	Input string `required:"" placeholder:"FILE" help:"The input of the helper; - is standard input. settle helper input prints one."`
}

func (c *helperInputCommand) run(a *app) []exit.Ending {
	l := a.loadAlone(c.Manifest, order{mode: "helper", world: a.world(&job{})}, c.valueFlags)
	if l.refused == nil {
		r, refused := findProvision(l.manifest, c.Only)
		if refused == nil {
			var input []byte
			var err error
			if input, err = provision.Prepare(context.Background(), r.Spec); err == nil {
				a.print(input)
				return nil
			}
			refused = exit.Refuse(exit.Failed, "%s: %w", r.ID(), err)
		}
		l.refuse(refused)
	}
	return []exit.Ending{a.reportRefusal(l, "text")}
}

// findProvision returns the named provision, or the only one.
func findProvision(m *model.Manifest, only string) (*model.Resource, *exit.Refusal) {
	var found *model.Resource
	for i := range m.Resources {
		switch r := &m.Resources[i]; {
		case only != "" && (r.ID() == only || r.AliasID() == only):
			if r.Type != "provision" {
				return nil, exit.Refuse(exit.Usage, "%s is no provision: settle list names those", only)
			}
			return r, nil
		case only != "" || r.Type != "provision":
		case found != nil:
			return nil, exit.Refuse(exit.Usage, "%s has several provisions: name one with --only", m.Path)
		default:
			found = r
		}
	}
	switch {
	case only != "":
		return nil, exit.Refuse(exit.Usage, "%s has no %s: settle list names its provisions", m.Path, only)
	case found == nil:
		return nil, exit.Refuse(exit.Usage, "%s has no provision: settle explain provision says how to write one", m.Path)
	}
	return found, nil
}

// asker asks one helper, any number of times.
type asker struct {
	argv []string
	trialFlags
}

func newAsker(f trialFlags) (*asker, *exit.Refusal) {
	argv, err := posix.Argv(f.Helper, nil)
	if err != nil {
		return nil, exit.Refuse(exit.Usage, "--helper: %w", err)
	}
	return &asker{argv, f}, nil
}

// ask runs one exchange, as a provision in the working directory would.
func (h *asker) ask(ctx context.Context, input []byte, heard func(line []byte)) (model.Exit, error) {
	dir, err := os.Getwd()
	if err != nil {
		return model.Exit{}, fmt.Errorf("find the working directory: %w", err)
	}
	commands := exec.NewCommands(exec.Inherited{Environ: os.Environ(), Grace: time.Second, RunID: newRun(time.Now().UTC())})
	cmd := commands.New(model.Base{Dir: dir}, h.argv)
	cmd.Stdin, cmd.Timeout, cmd.Output = input, time.Duration(h.Timeout), heard
	return helper.Asker(proc.Run)(ctx, cmd)
}

// askAndJudge asks the helper and judges its answer. The error says why there is no
// answer to judge.
func (h *asker) askAndJudge(ctx context.Context, in *contract.Input, data []byte, heard func(line []byte)) (*provision.Trial, []byte, error) {
	exit, err := h.ask(ctx, data, heard)
	if err != nil {
		return nil, nil, err
	}
	t, err := provision.Try(in, exit.Reply, h.Upgrades, time.Now())
	if err != nil {
		return nil, exit.Reply, err
	}
	for _, w := range exit.Warnings {
		t.Warnings = append(t.Warnings, contract.Problem{Advice: model.Advice{Message: w}})
	}
	return t, exit.Reply, nil
}

func (c *helperRunCommand) run(a *app) []exit.Ending {
	h, refused := newAsker(c.trialFlags)
	if refused != nil {
		return a.printRefusal(refused)
	}
	data, err := a.readInput(c.Input)
	if err != nil {
		return a.printRefusal(exit.Refuse(exit.Unreadable, "%s: %w", c.Input, source.ExplainError(err, ": settle helper input makes one")))
	}
	in, err := contract.ParseInput(data)
	if err != nil {
		return a.printRefusal(exit.Refuse(exit.Invalid, "%s: %w: settle helper input makes one that is right", c.Input, err))
	}
	ctx, stop := a.withSignals(context.Background(), time.Second)
	defer stop()
	t, _, err := h.askAndJudge(ctx, in, data, func(line []byte) { a.err.PrintText(string(line)) })
	if ctx.Err() != nil {
		return []exit.Ending{{Cause: context.Cause(ctx)}}
	}
	if err != nil {
		a.print([]byte("decision  none\nerror     " + render.Escape(err.Error()) + "\n"))
		return []exit.Ending{{Refused: &exit.Refusal{Code: exit.Failed, Err: err}}}
	}
	if !a.Quiet || t.Action == contract.Refuse {
		a.print(trialText(t))
	}
	switch t.Action {
	case contract.Refuse:
		return []exit.Ending{{Refused: exit.Refuse(exit.Failed, "refused")}}
	case contract.Defer:
		return []exit.Ending{{Refused: exit.Refuse(exit.Later, "deferred")}}
	}
	return nil
}

// printRefusal ends a command without a report.
func (a *app) printRefusal(r *exit.Refusal) []exit.Ending {
	a.err.PrintError(r.Error())
	return []exit.Ending{{Refused: r}}
}

// readInput reads the file of --input without its last newline, which editors add and
// the contract does not have.
func (a *app) readInput(path string) ([]byte, error) {
	in := a.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, source.WithoutPath(err)
		}
		defer func() { _ = f.Close() }() // only read
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, contract.MaxReply))
	return bytes.TrimSuffix(data, []byte("\n")), err
}

// trialText returns a verdict as text: one fact a line, and files with their content.
func trialText(t *provision.Trial) []byte {
	var b strings.Builder
	line := func(what, text string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-8s  %s", what, text), " ") + "\n")
	}
	say := func(what, text string) { line(what, render.Escape(text)) }
	say("decision", t.Action.String())
	if t.Reason != "" {
		say("reason", t.Reason)
	}
	for _, f := range t.Errors {
		say("error", f.String())
	}
	for _, f := range t.Warnings {
		say("warning", f.String())
	}
	for _, f := range t.Files {
		say("file", fmt.Sprintf("%s %04o", f.Path, f.Mode))
		if f.Note != "" {
			say("", f.Note)
		}
		for text := range strings.Lines(f.Text) {
			parts := strings.Split(strings.TrimSuffix(text, "\n"), "\t") // the tabs of policies stay
			for i := range parts {
				parts[i] = render.Escape(parts[i])
			}
			line("", strings.Join(parts, "\t"))
		}
	}
	return []byte(b.String())
}
