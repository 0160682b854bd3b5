// Package runner runs the program settle by its published contract: its command
// line, its exit codes and its JSON.
package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Exit codes of settle that an agent tells apart.
const (
	ExitOK      = 0
	ExitUsage   = 64
	ExitInvalid = 65
	ExitBlocked = 73
	ExitLater   = 75
)

// grace is how long settle may take to end after a signal. It ends the command
// that runs, records the owed refreshes, and exits.
const grace = 2 * time.Minute

// Settle is the program settle and where it keeps its state.
type Settle struct {
	Path     string
	StateDir string // "" leaves it to settle
	Out, Err io.Writer
}

// Manifest is a manifest with its files of values, as settle takes them.
type Manifest struct {
	Path   string
	Values []string
}

func (m Manifest) args() []string {
	args := []string{m.Path}
	for _, file := range m.Values {
		args = append(args, "--var-file", file)
	}
	return args
}

// Report is the part of settle's report that an agent looks at, and all of it as text.
type Report struct {
	Run       string    `json:"run"`
	Started   time.Time `json:"started"`
	ExitCode  int       `json:"exit_code"`
	Error     string    `json:"error"`
	Summary   Summary   `json:"summary"`
	Problems  []Problem `json:"problems"`
	Resources []Outcome `json:"resources"`
	Text      []byte    `json:"-"`
}

// Summary counts the resources of a run by status.
type Summary map[string]int

// Problem is a mistake in a manifest.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// String returns the problem as settle prints it, without its suggestion.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Outcome is the result of one resource.
type Outcome struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Ignored bool   `json:"ignored"`
	Reason  string `json:"reason"`
}

// Run is one line of settle's history.
type Run struct {
	Run      string            `json:"run"`
	Started  time.Time         `json:"started"`
	ExitCode *int              `json:"exit_code"` // nil: killed, or it still runs
	Summary  Summary           `json:"summary"`
	Labels   map[string]string `json:"labels"`
}

// Converged reports whether the run found everything as declared.
func (r *Run) Converged() bool {
	return r.ExitCode != nil && *r.ExitCode == 0 && r.Summary["stable"] == r.Summary["total"]
}

// Version returns the version of settle.
func (s *Settle) Version(ctx context.Context) (string, error) {
	out, code, err := s.capture(ctx, "version", "--json")
	if err != nil {
		return "", err
	}
	var version struct{ Version string }
	if code != 0 || json.Unmarshal(out, &version) != nil || version.Version == "" {
		return "", fmt.Errorf("run %s version --json: it does not say its version: is it settle?", s.Path)
	}
	return version.Version, nil
}

// Validate returns nil when settle accepts a manifest with its values.
func (s *Settle) Validate(ctx context.Context, m Manifest) error {
	out, code, err := s.capture(ctx, append([]string{"validate", "-o", "json", "--ci", "none"}, m.args()...)...)
	if err != nil || code == ExitOK {
		return err
	}
	var report Report
	if json.Unmarshal(out, &report) != nil {
		return fmt.Errorf("settle validate exits %d", code)
	}
	var problems []error
	for _, problem := range report.Problems {
		problems = append(problems, errors.New(problem.String()))
	}
	if len(problems) == 0 {
		return errors.New(report.Error)
	}
	return errors.Join(problems...)
}

// Render returns a manifest with every value put in, as JSON.
func (s *Settle) Render(ctx context.Context, m Manifest) ([]byte, error) {
	out, code, err := s.capture(ctx, append([]string{"render", "-o", "json"}, m.args()...)...)
	if err == nil && code != ExitOK {
		err = fmt.Errorf("run settle render: exit %d", code)
	}
	return out, err
}

// Walk applies or plans a manifest. The report is nil when settle ended before
// it could write one. The error is about starting settle only.
func (s *Settle) Walk(ctx context.Context, mode string, m Manifest, reportFile string, flags ...string) (code int, report *Report, err error) {
	if err := os.Remove(reportFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, nil, err
	}
	args := append([]string{mode, "--ci", "none", "--report", "json=" + reportFile}, flags...)
	cmd := s.command(ctx, append(args, m.args()...)...)
	cmd.Stdout, cmd.Stderr = s.Out, s.Err
	if code, err = exitCode(cmd.Run(), cmd); err != nil {
		return 0, nil, err
	}
	text, err := os.ReadFile(reportFile)
	if err != nil {
		return code, nil, nil // settle was killed, or refused the manifest
	}
	report, err = ParseReport(text)
	return code, report, err
}

// ParseReport reads a report of settle.
func ParseReport(text []byte) (*Report, error) {
	report := &Report{Text: text}
	if err := json.Unmarshal(text, report); err != nil {
		return nil, fmt.Errorf("read report of settle: %w", err)
	}
	return report, nil
}

// History returns the runs of a manifest after the run since, oldest first;
// all that are remembered when since is empty. ErrNoRun means that since is not
// remembered any more.
func (s *Settle) History(ctx context.Context, m Manifest, since string) ([]Run, error) {
	args := append([]string{"history", "-o", "json"}, m.args()...)
	if since != "" {
		args = append(args, "--since", since)
	}
	out, code, err := s.capture(ctx, args...)
	if err != nil {
		return nil, err
	}
	if code == ExitUsage && since != "" {
		return nil, ErrNoRun
	}
	var history struct{ Runs []Run }
	if err := json.Unmarshal(out, &history); err != nil || code != ExitOK {
		return nil, fmt.Errorf("run settle history: exit %d", code)
	}
	runs := history.Runs
	for i, j := 0, len(runs)-1; i < j; i, j = i+1, j-1 {
		runs[i], runs[j] = runs[j], runs[i]
	}
	return runs, nil
}

// ErrNoRun is returned for a run that settle does not remember.
var ErrNoRun = errors.New("settle does not remember the run")

// Show returns the report of a past run.
func (s *Settle) Show(ctx context.Context, m Manifest, run string) ([]byte, error) {
	out, code, err := s.capture(ctx, append([]string{"show", run, "-o", "json"}, m.args()...)...)
	if err == nil && code != ExitOK {
		err = fmt.Errorf("run settle show %s: exit %d", run, code)
	}
	return out, err
}

// capture runs settle and returns its standard output and exit code.
func (s *Settle) capture(ctx context.Context, args ...string) ([]byte, int, error) {
	cmd := s.command(ctx, args...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	code, err := exitCode(cmd.Run(), cmd)
	return out.Bytes(), code, err
}

func (s *Settle) command(ctx context.Context, args ...string) *exec.Cmd {
	if s.StateDir != "" && len(args) > 0 && args[0] != "version" && args[0] != "validate" && args[0] != "render" {
		args = append([]string{args[0], "--state-dir", s.StateDir}, args[1:]...)
	}
	cmd := exec.CommandContext(ctx, s.Path, args...)
	leaveGroup(cmd)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	return cmd
}

// exitCode turns the end of a process into its exit code, as a shell counts.
func exitCode(err error, cmd *exec.Cmd) (int, error) {
	var exited *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exited) && cmd.ProcessState == nil:
		return 0, fmt.Errorf("start settle: %s", strings.TrimPrefix(err.Error(), "exec: "))
	}
	if signal := signalOf(cmd.ProcessState); signal > 0 {
		return 128 + signal, nil
	}
	return cmd.ProcessState.ExitCode(), nil
}
