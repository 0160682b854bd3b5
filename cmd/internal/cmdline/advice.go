package cmdline

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/model"
)

// CommandReplacements maps commands of other tools to settle's.
var CommandReplacements = map[string]string{
	"run": "apply", "up": "apply", "converge": "apply", "deploy": "apply", "agent": "apply", "exec": "apply", "execute": "apply",
	"check": "plan", "diff": "plan", "noop": "plan", "dry-run": "plan", "preview": "plan", "test": "plan",
	"lint": "validate", "syntax": "validate", "verify": "validate",
	"log": "history", "logs": "history", "runs": "history", "status": "owed", "pending": "owed", "debts": "owed",
	"new": "init", "create": "init", "ls": "list", "doc": "explain", "docs": "explain", "describe": "explain",
	"clear": "forget", "reset": "forget", "disable": "pause", "enable": "resume", "unpause": "resume",
}

// FlagReplacements maps flags of other tools to settle's flags and commands.
var FlagReplacements = map[string]string{
	"--check": "settle plan", "--noop": "settle plan", "--dry-run": "settle plan", "--dry": "settle plan", "--diff": "settle plan", "-n": "settle plan",
	"--syntax-check": "settle validate", "--lint": "settle validate",
	"--extra-vars": "--var", "-e": "--var", "--set": "--var", "--values": "--var-file", "--vars-file": "--var-file",
	"--file": "settle apply MANIFEST", "-f": "settle apply MANIFEST", "--manifest": "settle apply MANIFEST", "--taskfile": "settle apply MANIFEST",
	"--json": "--output json", "--format": "--output", "--debug": "--verbose", "--silent": "--quiet",
	"--jobs": "--parallel", "-j": "--parallel", "--forks": "--parallel", "--concurrency": "--parallel",
	"--limit": "--only", "--target": "--only", "--resource": "--only", "--exclude": "--skip-tags", "--skip": "--skip-tags",
}

// The messages of kong that are reworded. kong has no error types for them.
var (
	unknownMessage  = regexp.MustCompile(`(?s)^(unknown flag|unexpected argument) (.*?)(, did you mean .*)?$`)
	missingMessage  = regexp.MustCompile(`^--([a-z-]+): (missing value|expected \w+ value but got "EOL")`)
	integerMessage  = regexp.MustCompile(`(?s)^--([a-z-]+): expected a valid 64 bit int but got (.*)$`)
	argumentMessage = regexp.MustCompile(`^expected "<([a-z.]+)>`)
)

// Mistake is a mistake in a command line, with a suggestion where there is one.
type Mistake struct {
	model.Advice
	cause error
}

// Error returns the message and the suggestion.
func (m *Mistake) Error() string { return m.Advice.String() }

// Unwrap returns the error of kong.
func (m *Mistake) Unwrap() error { return m.cause }

// Explain returns an error of kong as a Mistake, or err itself when its message
// needs no other words. extensions are those of manifests, such as .yaml.
func Explain(err error, extensions []string) error {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context == nil {
		return err
	}
	said := wrong.Error()
	node := cmp.Or(wrong.Context.Selected(), wrong.Context.Model.Node)
	var advice model.Advice
	if m := unknownMessage.FindStringSubmatch(said); m != nil {
		advice = explainUnknownWord(node, m[1], m[2], extensions)
		if advice.Message == "" && m[3] != "" {
			advice = model.Advice{Message: m[1] + " " + m[2], Suggestion: strings.TrimPrefix(m[3], ", ")}
		}
	} else if m := missingMessage.FindStringSubmatch(said); m != nil {
		if flag := FindFlag(node, "--"+m[1]); flag != nil {
			advice.Message = fmt.Sprintf("--%s: %s is missing", m[1], flag.PlaceHolder)
		}
	} else if m := integerMessage.FindStringSubmatch(said); m != nil {
		advice.Message = fmt.Sprintf("--%s: want an integer, got %s", m[1], m[2])
	} else if m := argumentMessage.FindStringSubmatch(said); m != nil {
		advice = explainMissingArgument(node, m[1])
	}
	if advice.Message == "" {
		return err
	}
	return &Mistake{advice, err}
}

// explainUnknownWord suggests a replacement for a word that a command does not
// take. The result is empty when the suggestion of kong is as good.
func explainUnknownWord(node *kong.Node, said, word string, extensions []string) model.Advice {
	isCommand := said == "unexpected argument" && len(node.Children) > 0 && node.Type == kong.ApplicationNode
	replacement := FlagReplacements[word]
	switch {
	case isCommand && CommandReplacements[word] != "":
		replacement = "settle " + CommandReplacements[word]
	case isCommand && word == "":
		return model.Advice{Message: "the name of a command is empty", Suggestion: "check for a variable that is not set"}
	case isCommand && slices.Contains(extensions, filepath.Ext(word)):
		replacement = "settle apply " + word
	}
	message := said + " " + word
	if replacement != "" {
		return model.Advice{Message: message, Suggestion: fmt.Sprintf("did you mean %q?", replacement)}
	}
	root := node
	for root.Parent != nil {
		root = root.Parent
	}
	var takers []string
	for _, leaf := range root.Leaves(true) {
		if FindFlag(leaf, word) != nil {
			takers = append(takers, leaf.Path())
		}
	}
	if len(takers) > 0 {
		return model.Advice{Message: message, Suggestion: "it is a flag of settle " + strings.Join(takers, ", ")}
	}
	return model.Advice{}
}

// explainMissingArgument names the missing argument and describes it.
func explainMissingArgument(node *kong.Node, name string) model.Advice {
	for _, arg := range node.Positional {
		if arg.Name == name {
			return model.Advice{Message: ArgumentName(arg) + " is missing. " + strings.TrimSuffix(arg.Help, ".")}
		}
	}
	return model.Advice{}
}

// CheckEncoding returns an error for the first argument that is not UTF-8. The
// parser would replace its bytes: settle would write another file than the one named.
func CheckEncoding(args []string) error {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return fmt.Errorf("the argument %+q is not UTF-8: rename the file; a value that is not UTF-8 can be given in SETTLE_VAR_NAME", arg)
		}
	}
	return nil
}
