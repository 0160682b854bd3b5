package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
)

// manCommand has no flags of its own.
type manCommand struct{}

// Help is shown by settle man --help.
func (*manCommand) Help() string {
	return `Example:

    settle man | man -l -`
}

func (c *manCommand) run(a *app) []ending {
	root := a.commands()
	a.print([]byte(manual(root, buildInfo())))
	return nil
}

// page is a manual page that is being written, in the macros of man(7).
type page struct{ strings.Builder }

// manual returns the manual page. It holds no time but that of the commit, so
// that the same source always makes the same page.
func manual(root *kong.Node, b build) string {
	p := &page{}
	date, _, _ := strings.Cut(b.Date, "T")
	p.line(".TH SETTLE 1 %q %q %q", date, "settle "+b.Version, "User Commands")
	p.line(".SH NAME")
	p.text("settle - " + purpose)
	p.line(".SH SYNOPSIS")
	for i, node := range root.Leaves(true) {
		if i > 0 {
			p.line(".br")
		}
		p.line(".B %s", roff(node.FullPath()))
		p.text(strings.Join(append(arguments(node), "[FLAGS]"), " "))
	}
	p.line(".SH DESCRIPTION")
	for i, paragraph := range about {
		if i > 0 {
			p.line(".PP")
		}
		p.text(paragraph)
	}
	p.line(".SH COMMANDS")
	for _, node := range root.Leaves(true) {
		p.command(node)
	}
	p.line(".SH OPTIONS")
	p.options(root)
	p.entries("EXIT STATUS", exitEntries)
	p.entries("ENVIRONMENT", environmentEntries)
	p.entries("FILES", fileEntries)
	p.line(".SH SEE ALSO")
	p.text("settle explain says what may stand in a manifest; settle schema is the same for editors.")
	return p.String()
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes a paragraph, or the rest of one.
func (p *page) text(text string) {
	for _, line := range wrapped(text, 64) { // hyphens become two characters
		p.line("%s", roff(line))
	}
}

func (p *page) entries(title string, entries []entry) {
	p.line(".SH %s", title)
	for _, t := range entries {
		p.item(t.name, t.meaning)
	}
}

// item is a word and what it means.
func (p *page) item(name, meaning string) {
	p.line(".TP")
	p.line(".B %s", roff(name))
	p.text(meaning)
}

func (p *page) command(node *kong.Node) {
	p.line(".SS %s", roff(strings.Join(append([]string{node.FullPath()}, arguments(node)...), " ")))
	p.text(node.Help)
	for _, arg := range node.Positional {
		p.item(cmdline.ArgumentName(arg), arg.Help)
	}
	for _, paragraph := range strings.Split(node.Detail, "\n\n") {
		switch {
		case paragraph == "":
		case strings.HasPrefix(paragraph, "    "):
			p.line(".PP\n.nf")
			for line := range strings.Lines(paragraph) {
				p.line("%s", roff(strings.TrimRight(line, "\n")))
			}
			p.line(".fi")
		default:
			p.line(".PP")
			p.text(paragraph)
		}
	}
}

// options are the flags of all commands, each once, with the commands that take it.
func (p *page) options(root *kong.Node) {
	type option struct {
		name, help string
		of         []string
	}
	var all []option
	for _, node := range append([]*kong.Node{root}, root.Leaves(true)...) {
		for _, flag := range node.Flags {
			o := option{name: nameOfFlag(flag), help: flag.Help}
			n := slices.IndexFunc(all, func(other option) bool { return other.name == o.name && other.help == o.help })
			if n < 0 {
				all, n = append(all, o), len(all)
			}
			all[n].of = append(all[n].of, node.Path())
		}
	}
	for _, o := range all {
		of := "every command"
		if o.of[0] != "" {
			of = strings.Join(o.of, ", ")
		}
		p.item(o.name, o.help+" ("+of+")")
	}
}

func nameOfFlag(flag *kong.Flag) string {
	name := "--" + flag.Name
	if flag.Short != 0 {
		name = "-" + string(flag.Short) + ", " + name
	}
	if !flag.IsBool() {
		name += " " + flag.PlaceHolder
	}
	return name
}

// arguments are those of a command, as the README writes them, behind the flags
// that it cannot do without.
func arguments(node *kong.Node) []string {
	var list []string
	for _, flag := range node.Flags {
		if flag.Required {
			list = append(list, nameOfFlag(flag))
		}
	}
	for _, arg := range node.Positional {
		name := cmdline.ArgumentName(arg)
		if arg.IsCumulative() {
			name += "..."
		}
		if !arg.Required {
			name = "[" + name + "]"
		}
		list = append(list, name)
	}
	return list
}

// roff writes a text so that troff shows it as it is: a hyphen that can be pasted
// into a shell, and nothing at the front of a line that looks like a request.
func roff(text string) string {
	var b strings.Builder
	front := true
	for _, r := range text {
		switch {
		case front && r == '.':
			b.WriteString(`\&.`)
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
		front = r == '\n'
	}
	return b.String()
}
