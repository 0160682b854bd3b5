package complete

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
)

// CommandLine is the words of a command line, as far as they can be read. Unlike
// kong it accepts a line with words missing or wrong.
type CommandLine struct {
	Flags map[string][]string // the values that were given, by the long name of the flag

	node     *kong.Node
	operands []string
	pending  *kong.Flag // the flag whose value is the next word
	ended    bool       // by --
}

// parseWords reads words as far as they are understood.
func parseWords(root *kong.Node, words []string) *CommandLine {
	cl := &CommandLine{node: root, Flags: map[string][]string{}}
	for _, word := range words {
		cl.add(word)
	}
	return cl
}

// add reads one more word.
func (cl *CommandLine) add(word string) {
	long, value, isLong := cl.splitLongFlag(word)
	switch {
	case cl.pending != nil:
		cl.Flags[cl.pending.Name] = append(cl.Flags[cl.pending.Name], word)
		cl.pending = nil
	case cl.ended:
		cl.operands = append(cl.operands, word)
	case word == "--":
		cl.ended = true
	case isLong:
		cl.Flags[long] = append(cl.Flags[long], value)
	case len(word) > 1 && word[0] == '-':
		cl.pending = cmdline.FlagBeforeValue(cl.node, word)
		if flag := cmdline.FindFlag(cl.node, word); flag != nil && flag.IsBool() {
			cl.Flags[flag.Name] = append(cl.Flags[flag.Name], "")
		}
	case len(cl.operands) == 0 && cmdline.FindCommand(cl.node, word) != nil:
		cl.node = cmdline.FindCommand(cl.node, word)
	default:
		cl.operands = append(cl.operands, word)
	}
}

// splitLongFlag splits a word such as --only=exec#a. ok is false for other words.
func (cl *CommandLine) splitLongFlag(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	ok = ok && !cl.ended && cmdline.FindFlag(cl.node, name) != nil
	return strings.TrimPrefix(name, "--"), value, ok
}

// Manifests returns the manifests that the line names, without empty words.
func (cl *CommandLine) Manifests() []string {
	var paths []string
	for i, operand := range cl.operands {
		all := cl.node.Positional
		if len(all) == 0 {
			break
		}
		name := SourceName(all[min(i, len(all)-1)])
		if operand != "" && (name == "MANIFEST" || name == "REF" && cl.takesManifestFirst()) {
			paths = append(paths, operand)
		}
	}
	return paths
}

// takesManifestFirst reports whether --all was given: `settle forget --all` takes a
// manifest where `settle forget` takes a resource.
func (cl *CommandLine) takesManifestFirst() bool { return cl.Flags["all"] != nil }
