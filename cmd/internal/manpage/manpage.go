// Package manpage writes a manual page from a kong model.
package manpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
)

// page is a manual page in the macros of man(7).
type page struct{ strings.Builder }

// Entry is a word and its meaning.
type Entry struct{ Name, Meaning string }

// Texts are the parts of the page that are not in the kong model.
type Texts struct {
	Version     string // such as settle 1.2.3
	Date        string // YYYY-MM-DD of the commit, or ""
	Purpose     string // one line
	Description []string
	ExitStatus  []Entry
	Environment []Entry
	Files       []Entry
	SeeAlso     string
}

// Render returns the manual page of a program. It contains no time besides Date, so
// that the same source always makes the same page.
func Render(root *kong.Node, texts Texts) string {
	p := &page{}
	p.line(".TH %s 1 %q %q %q", strings.ToUpper(root.Name), texts.Date, texts.Version, "User Commands")
	p.line(".SH NAME")
	p.text(root.Name + " - " + texts.Purpose)
	p.line(".SH SYNOPSIS")
	for i, node := range root.Leaves(true) {
		if i > 0 {
			p.line(".br")
		}
		p.line(".B %s", Escape(node.FullPath()))
		p.text(strings.Join(append(listArguments(node), "[FLAGS]"), " "))
	}
	p.line(".SH DESCRIPTION")
	for i, paragraph := range texts.Description {
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
	p.entries("EXIT STATUS", texts.ExitStatus)
	p.entries("ENVIRONMENT", texts.Environment)
	p.entries("FILES", texts.Files)
	p.line(".SH SEE ALSO")
	p.text(texts.SeeAlso)
	return p.String()
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes a paragraph, or the rest of one.
func (p *page) text(text string) {
	for _, line := range cmdline.Wrap(text, 64) { // hyphens become two characters
		p.line("%s", Escape(line))
	}
}

func (p *page) entries(title string, entries []Entry) {
	p.line(".SH %s", title)
	for _, t := range entries {
		p.item(t.Name, t.Meaning)
	}
}

// item writes a word and its meaning.
func (p *page) item(name, meaning string) {
	p.line(".TP")
	p.line(".B %s", Escape(name))
	p.text(meaning)
}

func (p *page) command(node *kong.Node) {
	p.line(".SS %s", Escape(strings.Join(append([]string{node.FullPath()}, listArguments(node)...), " ")))
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
				p.line("%s", Escape(strings.TrimRight(line, "\n")))
			}
			p.line(".fi")
		default:
			p.line(".PP")
			p.text(paragraph)
		}
	}
}

// options writes the flags of all commands, each once, with the commands that take it.
func (p *page) options(root *kong.Node) {
	type option struct {
		name, help string
		of         []string
	}
	var all []option
	for _, node := range append([]*kong.Node{root}, root.Leaves(true)...) {
		for _, flag := range node.Flags {
			o := option{name: FormatFlag(flag), help: flag.Help}
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

// FormatFlag returns a flag as help and messages write it: -o, --output FORMAT.
func FormatFlag(flag *kong.Flag) string {
	name := "--" + flag.Name
	if flag.Short != 0 {
		name = "-" + string(flag.Short) + ", " + name
	}
	if !flag.IsBool() {
		name += " " + flag.PlaceHolder
	}
	return name
}

// listArguments returns the required flags and the arguments of a command, as the
// README writes them.
func listArguments(node *kong.Node) []string {
	var list []string
	for _, flag := range node.Flags {
		if flag.Required {
			list = append(list, FormatFlag(flag))
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

// Escape escapes a text so that troff prints it unchanged: hyphens can be pasted
// into a shell, and no line begins with a request.
func Escape(text string) string {
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
