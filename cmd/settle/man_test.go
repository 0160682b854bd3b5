package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
	"github.com/settle-cm/settle/cmd/internal/manpage"
)

func manualOf(b build) string {
	return manpage.Render(commandModel(), manTexts(b))
}

// The manual page is a reference: every command, flag, argument and exit code
// stands in it, and what the help says of it.
func TestEveryCommandFlagAndExitCodeIsInTheManual(t *testing.T) {
	text := manualOf(build{})
	has := func(want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("the manual lacks %q", want)
		}
	}
	for _, node := range commandModel().Leaves(false) {
		has(".SS " + manpage.Escape(node.FullPath()))
		has("\n.B " + manpage.Escape(node.FullPath()) + "\n")
		for _, arg := range node.Positional {
			has("\n.B " + manpage.Escape(cmdline.ArgumentName(arg)) + "\n")
		}
		for _, group := range node.AllFlags(false) {
			for _, flag := range group {
				has("\n.B " + manpage.Escape(manpage.FormatFlag(flag)) + "\n" + manpage.Escape(cmdline.Wrap(flag.Help, 40)[0]))
			}
		}
	}
	for _, list := range [][]entry{exitEntries, environmentEntries, fileEntries} {
		for _, e := range list {
			has("\n.B " + manpage.Escape(e.Name) + "\n" + manpage.Escape(cmdline.Wrap(e.Meaning, 40)[0]))
		}
	}
}

// The page is that of the commit, whenever and wherever it is made.
func TestTheManualIsReproducible(t *testing.T) {
	b := build{Version: "1.2.3", Date: "2026-01-02T03:04:05Z", Go: "go1.26"}
	text := manualOf(b)
	if want := `.TH SETTLE 1 "2026-01-02" "settle 1.2.3" "User Commands"` + "\n"; !strings.HasPrefix(text, want) {
		t.Errorf("begins with %.80q", text)
	}
	if again := manualOf(b); again != text {
		t.Error("made twice it differs")
	}
}

// What formats manual pages has nothing to say of this one.
func TestTheManualIsSound(t *testing.T) {
	text := manualOf(build{Version: version, Date: "2026-01-02T03:04:05Z"})
	for _, command := range []string{"mandoc -T lint", "groff -man -ww -T utf8", "man -l -"} {
		t.Run(command, func(t *testing.T) {
			words := strings.Fields(command)
			if _, err := exec.LookPath(words[0]); err != nil {
				t.Skip(words[0] + " is not installed")
			}
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Stdin = strings.NewReader(text)
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if words[0] == "mandoc" {
				said.Write(out)
			}
			if err != nil || said.Len() > 0 {
				t.Errorf("%v: %s", err, &said)
			}
			if words[0] != "mandoc" && !strings.Contains(string(out), "jq -r '.resources[].id'") {
				t.Error("an example is not as it is to be typed")
			}
		})
	}
}
