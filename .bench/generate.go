//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manifest writes nodes as a settle manifest and returns the file.
func (l *lab) manifest(name string, n int, nodes []node) (string, error) {
	var b strings.Builder
	b.WriteString("resources:\n- exec:\n")
	for i := range nodes {
		entry(&b, &nodes[i])
	}
	return l.write("settle", name, n, "settle.yaml", b.String())
}

// entry writes one exec as settle and CCM read it.
func entry(b *strings.Builder, r *node) {
	fmt.Fprintf(b, "  - %s:\n      command: %s\n", r.name, r.command)
	if r.creates != "" {
		fmt.Fprintf(b, "      creates: %s\n", r.creates)
	}
	if len(r.refreshed) > 0 {
		b.WriteString("      refreshonly: true\n      subscribe:\n")
		for _, by := range r.refreshed {
			fmt.Fprintf(b, "      - exec#%s\n", by)
		}
	}
	if r.streams {
		b.WriteString("      logoutput: true\n")
	}
}

// write puts the input files of a tool into a directory of its own.
func (l *lab) write(tool, name string, n int, file, text string) (string, error) {
	dir := filepath.Join(l.dir, tool, fmt.Sprintf("%s-%d", name, n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, file)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// ends returns the nodes that nothing else waits for.
func ends(nodes []node) []string {
	waited := map[string]bool{}
	for _, r := range nodes {
		for _, by := range r.refreshed {
			waited[by] = true
		}
	}
	var names []string
	for _, r := range nodes {
		if !waited[r.name] {
			names = append(names, r.name)
		}
	}
	return names
}

func makefile(nodes []node) string {
	var b strings.Builder
	if nodes[0].creates == "" {
		b.WriteString(".PHONY: all")
		for _, r := range nodes {
			b.WriteString(" " + r.name)
		}
		b.WriteString("\nall: " + strings.Join(ends(nodes), " ") + "\n")
	} else {
		b.WriteString(".PHONY: all\nall:")
		for _, r := range nodes {
			b.WriteString(" " + r.creates)
		}
		b.WriteString("\n")
	}
	for _, r := range nodes {
		target := r.name
		if r.creates != "" {
			target = r.creates
		}
		fmt.Fprintf(&b, "%s: %s\n\t%s\n", target, strings.Join(r.refreshed, " "), r.command)
	}
	return b.String()
}

func ninjafile(nodes []node) string {
	var b strings.Builder
	b.WriteString("rule run\n  command = $c\n")
	for _, r := range nodes {
		target := r.name
		if r.creates != "" {
			target = r.creates
		}
		fmt.Fprintf(&b, "build %s: run %s\n  c = %s\n", target, strings.Join(r.refreshed, " "), r.command)
	}
	return b.String()
}

func taskfile(nodes []node) string {
	var b strings.Builder
	b.WriteString("version: '3'\nsilent: true\ntasks:\n  default:\n    deps: [" + strings.Join(ends(nodes), ", ") + "]\n")
	for _, r := range nodes {
		fmt.Fprintf(&b, "  %s:\n    run: once\n    cmds: ['%s']\n", r.name, r.command)
		if r.creates != "" {
			fmt.Fprintf(&b, "    status: ['test -e %s']\n", r.creates)
		}
		if len(r.refreshed) > 0 {
			fmt.Fprintf(&b, "    deps: [%s]\n", strings.Join(r.refreshed, ", "))
		}
	}
	return b.String()
}

func puppetfile(nodes []node) string {
	var b strings.Builder
	for _, r := range nodes {
		fmt.Fprintf(&b, "exec { '%s': command => '%s'", r.name, r.command)
		if r.creates != "" {
			fmt.Fprintf(&b, ", creates => '%s'", r.creates)
		}
		if len(r.refreshed) > 0 {
			fmt.Fprintf(&b, ", refreshonly => true, subscribe => [Exec['%s']]", strings.Join(r.refreshed, "'], Exec['"))
		}
		b.WriteString(" }\n")
	}
	return b.String()
}

// playbook makes subscribers handlers, which is what refreshes are there.
func playbook(nodes []node) string {
	notifies := map[string][]string{}
	for _, r := range nodes {
		for _, by := range r.refreshed {
			notifies[by] = append(notifies[by], r.name)
		}
	}
	var tasks, handlers strings.Builder
	for _, r := range nodes {
		b := &tasks
		if len(r.refreshed) > 0 {
			b = &handlers
		}
		fmt.Fprintf(b, "  - name: %s\n    command:\n      cmd: %s\n", r.name, r.command)
		if r.creates != "" {
			fmt.Fprintf(b, "      creates: %s\n", r.creates)
		}
		if names := notifies[r.name]; len(names) > 0 {
			fmt.Fprintf(b, "    notify: [%s]\n", strings.Join(names, ", "))
		}
	}
	text := "- hosts: localhost\n  gather_facts: false\n  tasks:\n" + tasks.String()
	if handlers.Len() > 0 {
		text += "  handlers:\n" + handlers.String()
	}
	return text
}

func policy(nodes []node) string {
	var b strings.Builder
	b.WriteString("body common control { bundlesequence => { \"main\" }; }\n" +
		"body classes repaired(c) { promise_repaired => { \"$(c)\" }; }\nbundle agent main {\ncommands:\n")
	for _, r := range nodes {
		fmt.Fprintf(&b, "  %q handle => %q, classes => repaired(\"did_%s\")", r.command, r.name, r.name)
		switch {
		case r.creates != "":
			fmt.Fprintf(&b, ", if => not(fileexists(%q))", r.creates)
		case len(r.refreshed) > 0:
			fmt.Fprintf(&b, ", if => \"did_%s\"", strings.Join(r.refreshed, "|did_"))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

func ccmfile(nodes []node) string {
	var b, list strings.Builder
	for i := range nodes {
		entry(&list, &nodes[i])
	}
	b.WriteString("ccm:\n  resources:\n  - exec:\n")
	for line := range strings.Lines(list.String()) {
		b.WriteString("  " + line)
	}
	return b.String()
}
