//go:build unix

package docs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// docMark is a comment that says something of the block below it.
type docMark struct{ key, value, rest string }

// docBlock is one fenced block of a page, with the marks above it.
type docBlock struct {
	line  int // of its beginning, from 1
	lang  string
	text  string
	is    string // of a console: the same with the output that there really is
	marks []docMark
}

// mark returns what a mark says of the block.
func (b *docBlock) mark(key string) (string, bool) {
	for _, m := range b.marks {
		if m.key == key {
			return m.value, true
		}
	}
	return "", false
}

// docKeys are the marks that there are; CONTRIBUTING.md says what they mean.
var docKeys = []string{"scene", "setup", "file", "applied", "picture", "syntax only", "not run"}

// docComment finds marks: a comment that begins with one of docKeys and a colon.
var docComment = regexp.MustCompile(`^<!-- (` + strings.Join(docKeys, "|") + `): ?(.*)$`)

// parsePage returns the blocks of a page in their order.
func parsePage(text string) (blocks []docBlock, err error) {
	lines := strings.Split(text, "\n")
	var marks []docMark
	for i := 0; i < len(lines); i++ {
		switch found := docComment.FindStringSubmatch(lines[i]); {
		case found != nil:
			body := []string{found[2]}
			for !strings.HasSuffix(lines[i], "-->") {
				if i++; i == len(lines) {
					return nil, errors.New("a comment has no end")
				}
				body = append(body, lines[i])
			}
			said := strings.TrimSuffix(strings.Join(body, "\n"), "-->")
			value, rest, _ := strings.Cut(said, "\n")
			marks = append(marks, docMark{found[1], strings.TrimSpace(value), rest})
		case strings.HasPrefix(lines[i], "<!--") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "```"):
			return nil, fmt.Errorf("line %d: no such mark", i+1)
		case strings.HasPrefix(lines[i], "```"):
			b := docBlock{line: i + 1, lang: strings.TrimPrefix(lines[i], "```"), marks: marks}
			marks = nil
			var body strings.Builder
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				body.WriteString(lines[i] + "\n")
			}
			if i == len(lines) {
				return nil, fmt.Errorf("line %d: a block has no end", b.line)
			}
			b.text = body.String()
			blocks = append(blocks, b)
		case strings.TrimSpace(lines[i]) != "" && len(marks) > 0:
			return nil, fmt.Errorf("line %d: a mark stands above no block", i+1)
		}
	}
	if len(marks) > 0 {
		return nil, errors.New("the last mark stands above no block")
	}
	return blocks, nil
}

var (
	// A scene cannot keep paths of the machine under the test for itself, nor
	// programs that change it.
	machinePath    = regexp.MustCompile(`(?m)(?:^|[^\w.}/~-])(~?/(?:usr|etc|var|opt|srv|root|boot|lib|run|home|sys|mnt)\b)`)
	machineProgram = regexp.MustCompile(`\b(sudo|apt-get|apt|dpkg|systemctl|docker)\s`)
	// Programs are only looked for there.
	searchPath = strings.NewReplacer("#!/usr/bin/env ", "", "/bin:/usr/bin", "")
)

// tame says what in a block that would be run may reach the machine: such a
// block has to be marked as not run. A manifest may name a program for which the
// scene has a stand-in.
func tame(b *docBlock) error {
	run := b.text
	if b.lang == "console" {
		commands, err := parseConsole(b.text)
		if err != nil {
			return err
		}
		run = ""
		for _, c := range commands {
			run += c.command
		}
	}
	found := machinePath.FindStringSubmatch(searchPath.Replace(run))
	if found == nil && b.lang != "yaml" {
		found = machineProgram.FindStringSubmatch(run)
	}
	if found != nil {
		return fmt.Errorf("%q may reach the machine that runs the test: say why it is not run", found[1])
	}
	return nil
}

// shown is a command of a console block, with what is shown of its output.
type shown struct {
	command, output string
	exit            int
}

var shownExit = regexp.MustCompile(`# exit (\d+)\b`)

// parseConsole takes a block apart: "$ " begins a command, "> " goes on with it,
// and its comment says how it exits where that is not 0.
func parseConsole(text string) ([]shown, error) {
	var all []shown
	for line := range strings.Lines(text) {
		command, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch {
		case begins:
			all = append(all, shown{command: command})
		case len(all) == 0:
			return nil, errors.New("it does not begin with a command")
		case goesOn && all[len(all)-1].output == "":
			all[len(all)-1].command += more
		default:
			all[len(all)-1].output += line
		}
	}
	for i := range all {
		if code := shownExit.FindStringSubmatch(all[i].command); code != nil {
			fmt.Sscan(code[1], &all[i].exit) // digits
		}
	}
	return all, nil
}

// What differs from run to run is compared as what it is.
var docVolatile = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`\b\d{8}T\d{6}Z-\w{6}\b`), "RUN"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`\bpid \d+`), "pid N"},
	{regexp.MustCompile(`  +`), "  "},
}

// looksLike compares an output with what is shown of it, in which "…" stands for
// anything within a line, and a line of nothing else for any lines.
func looksLike(shown, got string) bool {
	for _, v := range docVolatile {
		shown, got = v.find.ReplaceAllString(shown, v.put), v.find.ReplaceAllString(got, v.put)
	}
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(got)
}
