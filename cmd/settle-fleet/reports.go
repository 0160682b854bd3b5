package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/agent"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/spool"
	"github.com/settle-cm/settle/model"
)

// event is one run of one machine, as the bus has it.
type event struct {
	Time     time.Time       `json:"time"` // the broker's
	Machine  string          `json:"machine"`
	Release  string          `json:"release"`
	Run      string          `json:"run"`
	ExitCode int             `json:"exit_code"`
	Summary  runner.Summary  `json:"summary"`
	Report   json.RawMessage `json:"report,omitempty"`
}

// readEvent returns the event of a message, nil for one that is not the
// machine's own account.
func readEvent(m *bus.Message) *event {
	subject := bytes.SplitN([]byte(m.Subject), []byte("."), 5) // settle.F.runs.NAME.MACHINE
	if m.Forged() || len(subject) != 5 {
		return nil
	}
	text, err := m.Report()
	if err != nil {
		return nil
	}
	report, err := runner.ParseReport(text)
	if err != nil || report.Run != spool.RunOf(m.Get("Nats-Msg-Id")) {
		return nil
	}
	return &event{
		Time: m.Time, Machine: string(subject[4]), Release: m.Get(agent.HeaderRelease), Run: report.Run,
		ExitCode: report.ExitCode, Summary: report.Summary, Report: text,
	}
}

type showCommand struct {
	Machine string `arg:"" help:"The machine."`
	Run     string `arg:"" optional:"" default:"last" help:"The run, as events lists it. Default: the last one."`
	fleetFlags
	Name   string `placeholder:"NAME" help:"The release name. Default: any."`
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json (settle's own report)."`
}

func (c *showCommand) run(ctx context.Context, a *app) error {
	if err := release.CheckMachine(c.Machine); err != nil {
		return exitWith(exitUsage, err)
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	name := c.Name
	if name == "" {
		name = "*"
	}
	messages, err := conn.Reports(ctx, name, c.Machine, time.Now().Add(-bus.MaxAge))
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	for _, m := range slices.Backward(messages) {
		e := readEvent(&m)
		if e == nil || c.Run != "last" && c.Run != e.Run {
			continue
		}
		if c.Output == "json" {
			return a.printf("%s", e.Report)
		}
		return writeReport(a, e)
	}
	return exitWith(exitUsage, fmt.Errorf("%s has told no run %s: settle-fleet events %s lists them", c.Machine, c.Run, c.Machine))
}

func writeReport(a *app, e *event) error {
	report, err := runner.ParseReport(e.Report)
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	if err := a.printf("run %s of %s on %s: exit %d\n", e.Run, e.Release, e.Machine, e.ExitCode); err != nil {
		return err
	}
	if report.Error != "" {
		if err := a.printf("%s\n", report.Error); err != nil {
			return err
		}
	}
	for _, outcome := range report.Resources {
		if outcome.Status == "stable" {
			continue
		}
		if err := a.printf("%s   %s   %s\n", outcome.ID, outcome.Status, outcome.Reason); err != nil {
			return err
		}
	}
	return a.printf("%d changed, %d failed, %d stable\n", report.Summary["changed"], report.Summary["failed"], report.Summary["stable"])
}

type eventsCommand struct {
	Machine string `arg:"" optional:"" help:"The machine. Default: all."`
	fleetFlags
	Since  string `default:"1d" placeholder:"TIME" help:"How far to look back. Default: 1d."`
	Follow bool   `help:"Go on with every run that is told, until a signal comes."`
	Output string `short:"o" enum:"text,jsonl" default:"text" placeholder:"FORMAT" help:"text, or jsonl: one event a line, with the whole report."`
}

func (c *eventsCommand) run(ctx context.Context, a *app) error {
	back, err := model.ParseDuration(c.Since)
	if err != nil {
		return exitWith(exitUsage, fmt.Errorf("--since %q is not a time such as 1h", c.Since))
	}
	machine := ">"
	if c.Machine != "" {
		if err := release.CheckMachine(c.Machine); err != nil {
			return exitWith(exitUsage, err)
		}
		machine = c.Machine
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	if c.Follow {
		return exitWith(exitUnreadable, conn.Follow(ctx, "*", machine, time.Now().Add(-back), func(m *bus.Message) error { return c.write(a, m) }))
	}
	reading, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	messages, err := conn.Reports(reading, "*", machine, time.Now().Add(-back))
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	for i := range messages {
		if err := c.write(a, &messages[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *eventsCommand) write(a *app, m *bus.Message) error {
	e := readEvent(m)
	switch {
	case e == nil:
		a.log.Warn("a report that is not the machine's own was dropped", "subject", m.Subject)
		return nil
	case c.Output == "jsonl":
		var compact bytes.Buffer
		if err := json.Compact(&compact, e.Report); err != nil {
			return exitWith(exitInvalid, err)
		}
		e.Report = compact.Bytes()
		text, err := json.Marshal(e)
		if err != nil {
			return exitWith(exitInvalid, err)
		}
		return a.printf("%s\n", text)
	}
	return a.printf("%s   %s   %s   %s   exit %d   %d changed, %d failed\n", e.Time.UTC().Format("2006-01-02 15:04:05"), e.Machine, e.Release, e.Run, e.ExitCode, e.Summary["changed"], e.Summary["failed"])
}
