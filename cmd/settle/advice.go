package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// commandWords are other tools' words for settle's commands.
var commandWords = map[string]string{
	"run": "apply", "up": "apply", "converge": "apply", "deploy": "apply", "agent": "apply", "exec": "apply", "execute": "apply",
	"check": "plan", "diff": "plan", "noop": "plan", "dry-run": "plan", "preview": "plan", "test": "plan",
	"lint": "validate", "syntax": "validate", "verify": "validate",
	"log": "history", "logs": "history", "runs": "history", "status": "owed", "pending": "owed", "debts": "owed",
	"new": "init", "create": "init", "ls": "list", "doc": "explain", "docs": "explain", "describe": "explain",
	"clear": "forget", "reset": "forget", "disable": "pause", "enable": "resume", "unpause": "resume",
}

// flagWords are other tools' words for settle's flags, and for what needs none here.
var flagWords = map[string]string{
	"--check": "settle plan", "--noop": "settle plan", "--dry-run": "settle plan", "--dry": "settle plan", "--diff": "settle plan", "-n": "settle plan",
	"--syntax-check": "settle validate", "--lint": "settle validate",
	"--extra-vars": "--var", "-e": "--var", "--set": "--var", "--values": "--var-file", "--vars-file": "--var-file",
	"--file": "settle apply MANIFEST", "-f": "settle apply MANIFEST", "--manifest": "settle apply MANIFEST", "--taskfile": "settle apply MANIFEST",
	"--json": "--output json", "--format": "--output", "--debug": "--verbose", "--silent": "--quiet",
	"--jobs": "--parallel", "-j": "--parallel", "--forks": "--parallel", "--concurrency": "--parallel",
	"--limit": "--only", "--target": "--only", "--resource": "--only", "--exclude": "--skip-tags", "--skip": "--skip-tags",
}

// What kong says that settle says otherwise: texts, since kong has no types for them.
var (
	saysUnknown = regexp.MustCompile(`(?s)^(unknown flag|unexpected argument) (.*?)(, did you mean .*)?$`)
	saysMissing = regexp.MustCompile(`^--([a-z-]+): (missing value|expected \w+ value but got "EOL")`)
	saysNoInt   = regexp.MustCompile(`(?s)^--([a-z-]+): expected a valid 64 bit int but got (.*)$`)
	saysOperand = regexp.MustCompile(`^expected "<([a-z.]+)>`)
)

// advice is what is wrong with a command line, with what to write instead.
type advice struct {
	text string
	error
}

func (a advice) Error() string { return a.text }
func (a advice) Unwrap() error { return a.error }

// advised says what kong says of a command line so that it can be mended by
// whoever reads it.
func advised(err error) error {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context == nil {
		return err
	}
	said := wrong.Error()
	node := cmp.Or(wrong.Context.Selected(), wrong.Context.Model.Node)
	text := ""
	if m := saysUnknown.FindStringSubmatch(said); m != nil {
		text = unknownWord(node, m[1], m[2])
	} else if m := saysMissing.FindStringSubmatch(said); m != nil {
		if flag := longFlag(node, "--"+m[1]); flag != nil {
			text = fmt.Sprintf("--%s: %s is missing", m[1], flag.PlaceHolder)
		}
	} else if m := saysNoInt.FindStringSubmatch(said); m != nil {
		text = fmt.Sprintf("--%s: want an integer, got %s", m[1], m[2])
	} else if m := saysOperand.FindStringSubmatch(said); m != nil {
		text = missingOperand(node, m[1])
	}
	if text == "" {
		return err
	}
	return advice{text, err}
}

// unknownWord is what to write in place of a word that a command does not take;
// "" is no better guess than kong's.
func unknownWord(node *kong.Node, said, word string) string {
	isCommand := said == "unexpected argument" && len(node.Children) > 0 && node.Type == kong.ApplicationNode
	theirs := flagWords[word]
	switch {
	case isCommand && commandWords[word] != "":
		theirs = "settle " + commandWords[word]
	case isCommand && word == "":
		return "the name of a command is empty: a variable that is not set may be in its place"
	case isCommand && slices.Contains(manifestExtensions, filepath.Ext(word)):
		theirs = "settle apply " + word
	}
	if theirs != "" {
		return fmt.Sprintf("%s %s, did you mean %q?", said, word, theirs)
	}
	root := node
	for root.Parent != nil {
		root = root.Parent
	}
	var takers []string
	for _, leaf := range root.Leaves(true) {
		if longFlag(leaf, word) != nil {
			takers = append(takers, leaf.Path())
		}
	}
	if len(takers) > 0 {
		return fmt.Sprintf("%s %s: it is a flag of settle %s", said, word, strings.Join(takers, ", "))
	}
	return ""
}

// missingOperand names an argument that is missing, and what it can be.
func missingOperand(node *kong.Node, name string) string {
	for _, arg := range node.Positional {
		if arg.Name == name {
			return fmt.Sprintf("%s is missing. %s", nameOf(arg), strings.TrimSuffix(arg.Help, "."))
		}
	}
	return ""
}
