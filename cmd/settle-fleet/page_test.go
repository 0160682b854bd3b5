//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// pageCommand is a command of a page, with the output that is shown of it.
type pageCommand struct {
	line           int
	command, shown string
	exit           int
}

var pageExit = regexp.MustCompile(`# exit (\d+)\b`)

// readPage returns the commands of all console blocks of a page, in their order.
func readPage(text string) (commands []pageCommand) {
	inside := false
	for number, line := range strings.Split(text, "\n") {
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && begins:
			c := pageCommand{line: number + 1, command: command}
			if exit := pageExit.FindStringSubmatch(command); exit != nil {
				fmt.Sscan(exit[1], &c.exit)
			}
			commands = append(commands, c)
		case inside && len(commands) > 0:
			commands[len(commands)-1].shown += line + "\n"
		}
	}
	return commands
}

// looksLike compares an output with what is shown: … stands for anything in a
// line, and on a line of its own for any lines.
func looksLike(shown, got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimRight(shown, "\n"))
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]*`)
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}

// The page is typed as it stands, in one shell: what it shows is what happens.
// Only the port of the server is another one.
func TestPageManyMachines(t *testing.T) {
	t.Parallel()
	server, err := natsServer()
	if err != nil {
		if os.Getenv("SETTLE_FLEET_NEEDS_NATS") != "" {
			t.Fatal(err)
		}
		t.Skip("no nats-server: ", err)
	}
	text, err := os.ReadFile(filepath.Join("docs", "many-machines.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := readPage(strings.ReplaceAll(string(text), "4222", fmt.Sprint(freePort(t))))
	if len(commands) < 20 {
		t.Fatalf("the page has only %d commands", len(commands))
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "manifests", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	const end = "\x01end "
	var script strings.Builder
	script.WriteString("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n")
	for _, c := range commands {
		fmt.Fprintf(&script, "%s\nprintf '%s%%d\\n' $?\n", c.command, end)
	}
	home := t.TempDir()
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "EXAMPLES=" + examples, "PATH=" + settleDir + ":" + filepath.Dir(server) + ":" + os.Getenv("PATH"), "TERM=dumb", "LC_ALL=C.UTF-8"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second // what a command left running must not hold the output
	limit := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	_ = cmd.Run() // each command's exit code is in the output
	rest := out.String()
	for _, c := range commands {
		got, after, ended := strings.Cut(rest, end)
		if !ended {
			t.Fatalf("line %d: $ %s\ndid not come to its end:\n%s", c.line, c.command, rest)
		}
		var code int
		fmt.Sscan(after, &code) // we wrote it
		_, rest, _ = strings.Cut(after, "\n")
		got = strings.TrimRight(regexp.MustCompile(`(?m) +$`).ReplaceAllString(got, ""), "\n")
		if code != c.exit {
			t.Errorf("line %d: $ %s\nexits %d, not %d\n%s", c.line, c.command, code, c.exit, got)
		}
		if !looksLike(c.shown, got) {
			t.Errorf("line %d: $ %s\n-- shown\n%s-- is\n%s", c.line, c.command, c.shown, got)
		}
	}
}
