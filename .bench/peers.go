//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// peer is another tool that can do the work of some cases.
type peer struct {
	name    string
	program string // as it is looked for
	path    string // where it is
	version []string
	file    string // what its input is called
	text    func([]node) string
	argv    func(file string, jobs int) []string
	primed  bool // its first run is not one of a converged machine
}

// known lists the tools that are looked for.
var known = []peer{
	{
		name: "make", program: "make", version: []string{"--version"}, file: "Makefile", text: makefile,
		argv: func(file string, jobs int) []string { return []string{"-s", "-j" + strconv.Itoa(jobs), "-f", file} },
	},
	{
		name: "ninja", program: "ninja", version: []string{"--version"}, file: "build.ninja", text: ninjafile, primed: true,
		argv: func(file string, jobs int) []string {
			return []string{"-C", filepath.Dir(file), "-j" + strconv.Itoa(jobs), "-f", file}
		},
	},
	{
		name: "go-task", program: "task", version: []string{"--version"}, file: "Taskfile.yml", text: taskfile,
		argv: func(file string, jobs int) []string { return []string{"-t", file} },
	},
	{
		name: "puppet", program: "puppet", version: []string{"--version"}, file: "site.pp", text: puppetfile,
		argv: func(file string, _ int) []string {
			dir := filepath.Join(filepath.Dir(file), "puppet")
			return []string{"apply", "--color=false", "--vardir=" + dir, "--confdir=" + dir, "--rundir=" + dir, "--logdir=" + dir, file}
		},
	},
	{
		name: "ansible", program: "ansible-playbook", version: []string{"--version"}, file: "play.yml", text: playbook,
		argv: func(file string, _ int) []string { return []string{"-i", "localhost,", "-c", "local", file} },
	},
	{
		name: "cfengine", program: "cf-agent", version: []string{"--version"}, file: "main.cf", text: policy,
		argv: func(file string, _ int) []string { return []string{"-K", "-f", file} },
	},
}

// findPeers returns those of the known tools that are here.
func findPeers(ccm string) []peer {
	all := known
	if ccm != "" {
		all = append(all, peer{
			name: "ccm", program: ccm, version: []string{"--version"}, file: "manifest.yaml", text: ccmfile,
			argv: func(file string, _ int) []string { return []string{"apply", file} },
		})
	}
	var found []peer
	for _, p := range all {
		path, err := exec.LookPath(p.program)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err == nil {
			p.path = path
			found = append(found, p)
		}
	}
	return found
}

// andPeers adds the peers to the programs of a case.
func (l *lab) andPeers(list []program, name string, n int, nodes []node) ([]program, error) {
	jobs := 1
	if name == "sleep" {
		jobs = n
	}
	for _, p := range l.peers {
		file, err := l.write(p.name, name, n, p.file, p.text(nodes))
		if err != nil {
			return nil, err
		}
		argv := append([]string{p.path}, p.argv(file, jobs)...)
		q := program{name: p.name, argv: argv}
		if p.primed && name == "converged" {
			q.prepare = l.prime(argv)
		}
		list = append(list, q)
	}
	return list, nil
}

// prime lets a program run once before it is measured.
func (l *lab) prime(argv []string) func() error {
	done := false
	return func() error {
		if done {
			return nil
		}
		done = true
		cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = l.dir, append(os.Environ(), l.env...)
		return build(cmd, l.dir)
	}
}
