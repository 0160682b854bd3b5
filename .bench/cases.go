//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// The names of programs that are ours.
const (
	inC        = "C"
	inC2       = "C, 2 threads"
	inCSynced  = "C with a journal"
	inGo       = "Go loop"
	settled    = "settle"
	settledTwo = "settle --parallel 2"
)

// benchCase is one kind of work, in one or more sizes.
type benchCase struct {
	name     string
	what     string
	sizes    []int
	programs func(l *lab, n int) ([]program, error) // the first is the floor
}

// cases lists the measured cases.
func cases(quick bool) []benchCase {
	size := func(small, full int) []int {
		if quick {
			return []int{small}
		}
		return []int{full}
	}
	runs, chain := []int{100, 500}, []int{100, 500}
	if !quick {
		runs, chain = []int{100, 1000, 5000}, []int{100, 1000, 5000}
	}
	list := []benchCase{
		{"converged", "commands whose creates is there: nothing to do", []int{100, 1000, 10_000}, converged},
		{"run", "times /bin/true, its output captured", runs, runAll},
		{"chain", "times /bin/true, each refreshed by the one before", chain, refreshed(chained)},
		{"fan-out", "times /bin/true, all refreshed by one", size(300, 1000), refreshed(fanOut)},
		{"fan-in", "times /bin/true, and one refreshed by all of them", size(300, 1000), refreshed(fanIn)},
		{"sleep", "times sleep 0.1 at once", []int{64}, sleeping},
		{"output", "MB of output of one command, in lines of 100 bytes, streamed", size(100, 500), talking},
		{"helpers", "servers whose helper answers at once, with nothing new", size(200, 1000), helpers},
		{"start", "program that says its version", []int{1}, starting},
		{"single", "resource, nothing to do", []int{1}, converged},
	}
	if !quick {
		list = append(list, benchCase{"million", "commands whose creates is there, in one manifest: more than it may hold", []int{300_000, 1_000_000}, million})
	}
	return list
}

// node is a resource, for any tool.
type node struct {
	name      string
	command   string
	creates   string
	refreshed []string // by these, and only then run
	streams   bool
}

const trueCommand = "/bin/true"

// converged is n commands with a file each that they need not make any more.
func converged(l *lab, n int) ([]program, error) {
	prefix := filepath.Join(l.dir, "files", "f")
	if err := os.MkdirAll(filepath.Dir(prefix), 0o700); err != nil {
		return nil, err
	}
	nodes := make([]node, n)
	for i := range nodes {
		nodes[i] = node{name: "r" + strconv.Itoa(i), command: trueCommand, creates: prefix + strconv.Itoa(i)}
		if err := os.WriteFile(nodes[i].creates, nil, 0o600); err != nil {
			return nil, err
		}
	}
	manifest, err := l.manifest("converged", n, nodes)
	if err != nil {
		return nil, err
	}
	list := []program{
		{name: inC, argv: []string{l.floor, "stat", manifest, prefix, strconv.Itoa(n)}},
		{name: inGo, argv: []string{l.self, loopWord, "converged", manifest}},
		l.apply(settled, manifest, fmt.Sprintf("0 changed, %d stable", n)),
	}
	return l.andPeers(list, "converged", n, nodes)
}

// runAll is n commands that are always run.
func runAll(l *lab, n int) ([]program, error) {
	nodes := make([]node, n)
	for i := range nodes {
		nodes[i] = node{name: "r" + strconv.Itoa(i), command: trueCommand}
	}
	manifest, err := l.manifest("run", n, nodes)
	if err != nil {
		return nil, err
	}
	want := fmt.Sprintf("%d changed", n)
	list := []program{
		l.spawn(inC, n, 1),
		{name: inGo, argv: []string{l.self, loopWord, "spawn", strconv.Itoa(n), trueCommand}},
		l.apply(settled, manifest, want),
		l.spawn(inC2, n, 2),
		l.apply(settledTwo, manifest, want, "--parallel", "2"),
	}
	return l.andPeers(list, "run", n, nodes)
}

func (l *lab) spawn(name string, n, threads int, words ...string) program {
	if len(words) == 0 {
		words = []string{trueCommand}
	}
	return program{name: name, argv: append([]string{l.floor, "spawn", strconv.Itoa(n), strconv.Itoa(threads)}, words...)}
}

// shape is how n resources refresh each other.
type shape struct {
	name  string
	nodes func(n int) []node
}

func id(i int) string { return "r" + strconv.Itoa(i) }

var (
	chained = shape{"chain", func(n int) []node {
		nodes := make([]node, n)
		for i := range nodes {
			nodes[i] = node{name: id(i), command: trueCommand}
			if i > 0 {
				nodes[i].refreshed = []string{id(i - 1)}
			}
		}
		return nodes
	}}
	fanOut = shape{"fan-out", func(n int) []node {
		nodes := make([]node, n)
		for i := range nodes {
			nodes[i] = node{name: id(i), command: trueCommand}
			if i > 0 {
				nodes[i].refreshed = []string{id(0)}
			}
		}
		return nodes
	}}
	fanIn = shape{"fan-in", func(n int) []node {
		nodes := make([]node, n)
		for i := range nodes {
			nodes[i] = node{name: id(i), command: trueCommand}
			if i == n-1 {
				for k := range n - 1 {
					nodes[i].refreshed = append(nodes[i].refreshed, id(k))
				}
			}
		}
		return nodes
	}}
)

// refreshed is n commands that run because of each other. Peers that know no
// refresh do the same in plain order, which is less work.
func refreshed(s shape) func(l *lab, n int) ([]program, error) {
	return func(l *lab, n int) ([]program, error) {
		nodes := s.nodes(n)
		manifest, err := l.manifest(s.name, n, nodes)
		if err != nil {
			return nil, err
		}
		journal := filepath.Join(l.dir, "floor.journal")
		list := []program{
			{name: inCSynced, argv: []string{l.floor, "journal", journal, strconv.Itoa(n), trueCommand}, prepare: func() error { return os.RemoveAll(journal) }},
			l.spawn(inC, n, 1),
			l.apply(settled, manifest, fmt.Sprintf("%d changed", n)),
		}
		return l.andPeers(list, s.name, n, nodes)
	}
}

// sleeping is n commands that do nothing for a while, all at once.
func sleeping(l *lab, n int) ([]program, error) {
	nodes := make([]node, n)
	for i := range nodes {
		nodes[i] = node{name: id(i), command: "/bin/sleep 0.1"}
	}
	manifest, err := l.manifest("sleep", n, nodes)
	if err != nil {
		return nil, err
	}
	list := []program{
		l.spawn(inC, n, n, "/bin/sleep", "0.1"),
		l.apply(settled, manifest, fmt.Sprintf("%d changed", n), "--parallel", strconv.Itoa(n)),
	}
	return l.andPeers(list, "sleep", n, nodes)
}

// talking is one command that writes n MB.
func talking(l *lab, n int) ([]program, error) {
	spew := []string{l.floor, "spew", strconv.Itoa(n)}
	manifest, err := l.manifest("output", n, []node{{name: "noisy", command: l.floor + " spew " + strconv.Itoa(n), streams: true}})
	if err != nil {
		return nil, err
	}
	return []program{
		{name: inC, argv: append([]string{l.floor, "lines"}, spew...)},
		{name: inGo, argv: append([]string{l.self, loopWord, "lines"}, spew...)},
		l.apply(settled, manifest, "1 changed"),
	}, nil
}

// helpers is n servers, each of which asks a helper how it should be, and is so.
func helpers(l *lab, n int) ([]program, error) {
	const reply = `{"configuration":{"plugin.choria.server.provision":"false"}}`
	text := []byte("resources:\n- provision:\n  - defaults:\n      helper: " + l.floor + " answer '" + reply + "'\n")
	for i := range n {
		dir := filepath.Join(l.dir, "servers", id(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, "  - %s:\n      directory: %s\n", id(i), dir)
	}
	file, err := l.write("settle", "helpers", n, "settle.yaml", string(text))
	if err != nil {
		return nil, err
	}
	journal := filepath.Join(l.dir, "floor.journal")
	ask := []string{strconv.Itoa(n), l.floor, "answer", reply}
	stable := fmt.Sprintf("0 changed, %d stable", n)
	once := l.prime([]string{l.settle, "apply", "--no-state", file}) // writes what the others find
	remembers := l.apply(settled, file, stable)
	empty := remembers.prepare
	remembers.prepare = func() error { return errors.Join(empty(), once()) }
	return []program{
		{name: inC, argv: append([]string{l.floor, "exchange", "-"}, ask...)},
		{
			name: inCSynced, argv: append([]string{l.floor, "exchange", journal}, ask...),
			prepare: func() error { return os.RemoveAll(journal) },
		},
		{name: inGo, argv: append([]string{l.self, loopWord, "exchange"}, ask...)},
		{name: settled + " --no-state", argv: []string{l.settle, "apply", "--no-state", file}, want: stable, prepare: once},
		remembers,
	}, nil
}

// starting is programs that do nothing but start.
func starting(l *lab, _ int) ([]program, error) {
	list := []program{
		{name: inC, argv: []string{l.floor, "true"}},
		{name: settled, argv: []string{l.settle, "version"}, want: "settle"},
	}
	for _, p := range l.peers {
		list = append(list, program{name: p.name, argv: append([]string{p.path}, p.version...)})
	}
	return list, nil
}

// million is a manifest far larger than real ones. Its resources are as
// short as they can be, since a manifest may have 16 MiB.
func million(l *lab, n int) ([]program, error) {
	const limit = 1_000_000 // of values in one manifest
	file := filepath.Join(l.dir, fmt.Sprintf("million-%d.yaml", n))
	text := []byte("defaults: {exec: {command: /bin/true, creates: /}}\nresources:\n- exec:\n")
	for i := range n {
		text = strconv.AppendInt(append(text, "  - "...), int64(i), 36)
		text = append(text, ":\n"...)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	there := filepath.Join(l.dir, "million")
	if err := os.WriteFile(there+"0", nil, 0o600); err != nil {
		return nil, err
	}
	loads := l.apply(settled, file, fmt.Sprintf("0 changed, %d stable", n))
	if 3*n > limit { // a name, its map and what it is: each resource is three values
		loads = l.apply(settled+", refused", file, "more than 1,000,000 values", "-o", "json")
		loads.exit = 65
	}
	return []program{
		{name: inC, argv: []string{l.floor, "stat", file, there, "1"}},
		loads,
	}, nil
}

// apply runs settle on a manifest, with a state directory of its own that is
// empty before each run.
func (l *lab) apply(name, manifest, want string, flags ...string) program {
	state := filepath.Join(l.dir, "state")
	argv := append([]string{l.settle, "apply", "--state-dir", state}, flags...)
	return program{
		name: name, argv: append(argv, manifest), want: want,
		prepare: func() error { return os.RemoveAll(state) },
	}
}
