//go:build unix

// Bench measures settle beside what it cannot beat and what people use
// instead: a C program that does the same work with the least that the system
// asks for (testdata/perf/floor.c), a bare Go loop, and whatever it finds
// installed of make, ninja, go-task, Puppet, Ansible, CFEngine and CCM.
//
//	go run ./.bench --quick
//
// Everything of one size of one case is run in turn, A B C A B C, so that a
// noisy machine is noisy for all; ratios are taken within a turn. Nothing here
// is a test: it prints, and asserts only that the work was done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == loopWord {
		if err := loop(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "loop:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	quick  bool
	runs   int
	only   string
	peers  string
	settle string
	ccm    string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "small sizes, under two minutes; without it about half an hour, more with slow peers")
	flags.IntVar(&o.runs, "runs", 5, "runs of each program; the table shows medians")
	flags.StringVar(&o.only, "only", "", "only these cases, separated by commas")
	flags.StringVar(&o.peers, "peers", "", "only these peers, separated by commas; none for none. Default: all that are found")
	flags.StringVar(&o.settle, "settle", "", "measure this settle, not one built from the working tree")
	flags.StringVar(&o.ccm, "ccm", "", "also measure this ccm")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := newLab(ctx, &o)
	if err != nil {
		return err
	}
	defer l.close()
	fmt.Fprintln(stdout, l.shape(ctx))
	var all results
	list := slices.DeleteFunc(cases(o.quick), func(c benchCase) bool { return !chosen(o.only, c.name) })
	for _, c := range list {
		l.cells += len(c.sizes)
	}
	for _, c := range list {
		found, err := l.measureCase(ctx, &c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, found...)
		fmt.Fprintln(stdout, table(&c, found))
	}
	fmt.Fprintln(stdout, barTable(all))
	return nil
}

func chosen(only, name string) bool {
	if only == "" {
		return true
	}
	for word := range strings.SplitSeq(only, ",") {
		if word == name {
			return true
		}
	}
	return false
}

// lab is where everything is built, generated and measured.
type lab struct {
	dir    string // of ours alone, removed in the end
	floor  string // the C program
	self   string // this program, for the bare Go loop
	settle string
	peers  []peer
	runs   int
	quick  bool
	limit  time.Duration // for one run
	budget time.Duration // for all runs of one program at one size
	until  time.Time     // by then all should be measured
	cells  int           // sizes that are still to be measured
	slow   map[string]bool
	env    []string
	log    io.Writer // a terminal that shows progress; nil: no terminal
}

func newLab(ctx context.Context, o *options) (l *lab, err error) {
	l = &lab{
		runs: max(1, o.runs), quick: o.quick, settle: o.settle, slow: map[string]bool{},
		limit: 5 * time.Minute, budget: time.Minute, until: time.Now().Add(24 * time.Hour),
	}
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		l.log = os.Stderr
	}
	if o.quick {
		l.limit, l.budget, l.until = 5*time.Second, 5*time.Second, time.Now().Add(90*time.Second)
	}
	if l.dir, err = os.MkdirTemp("", "settle-bench"); err != nil {
		return nil, err
	}
	defer func(made *lab) {
		if err != nil {
			made.close()
		}
	}(l)
	if l.self, err = os.Executable(); err != nil {
		return nil, err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.buildFloor(ctx, filepath.Join(root, "testdata", "perf", "floor.c")); err != nil {
		return nil, err
	}
	if l.settle == "" {
		l.settle = filepath.Join(l.dir, "settle.bin") // settle is the directory of its work
		if err := build(exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", l.settle, "./cmd/settle"), root); err != nil {
			return nil, err
		}
	}
	// the same for all, and nothing in it that favours one
	l.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "USER=bench", "LOGNAME=bench", "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + l.dir}
	l.peers = slices.DeleteFunc(findPeers(o.ccm), func(p peer) bool { return !chosen(o.peers, p.name) })
	return l, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) } // what stays is in the temporary directory

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	dir := strings.TrimSpace(string(out))
	if err == nil && dir == "" {
		err = errors.New("there is none")
	}
	if err != nil {
		return "", fmt.Errorf("find the module (run this inside the repository): %w", err)
	}
	return dir, nil
}

// buildFloor builds the C program, static where that is possible: it is the
// launcher too, and must weigh nothing.
func (l *lab) buildFloor(ctx context.Context, source string) error {
	l.floor = filepath.Join(l.dir, "floor")
	args := []string{"-O2", "-pthread", "-o", l.floor, source}
	if build(exec.CommandContext(ctx, "cc", append([]string{"-static"}, args...)...), "") == nil {
		return nil
	}
	return build(exec.CommandContext(ctx, "cc", args...), "")
}

func build(cmd *exec.Cmd, dir string) error {
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
