// Package cmdline reads the words of a command line against a kong model: it
// finds commands and flags, moves flags before arguments, and suggests what to
// write instead of a word that settle does not know.
package cmdline

import (
	"strings"

	"github.com/alecthomas/kong"
)

// FindCommand returns the command of a name directly below node, or nil.
func FindCommand(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// FindFlag returns the flag that arg spells, such as --only, or nil.
func FindFlag(node *kong.Node, arg string) *kong.Flag {
	long, ok := strings.CutPrefix(arg, "--")
	if !ok {
		return nil
	}
	return findFlag(node, func(f *kong.Flag) bool { return f.Name == long })
}

// FlagBeforeValue returns the flag of arg that takes the next word as its value,
// or nil. That is a long flag, or the last of several short ones: in -vo the
// next word belongs to -o. In -ojson the value is in the same word.
func FlagBeforeValue(node *kong.Node, arg string) *kong.Flag {
	if flag := FindFlag(node, arg); flag != nil && !flag.IsBool() {
		return flag
	}
	if strings.HasPrefix(arg, "--") {
		return nil
	}
	for i, letter := range arg[1:] {
		flag := findFlag(node, func(f *kong.Flag) bool { return f.Short == letter })
		if flag != nil && !flag.IsBool() {
			if i == len(arg)-2 {
				return flag
			}
			return nil
		}
	}
	return nil
}

// findFlag returns the first flag of a command, or of the commands above it,
// that matches.
func findFlag(node *kong.Node, matches func(*kong.Flag) bool) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if matches(flag) {
				return flag
			}
		}
	}
	return nil
}

// ArgumentName returns the name of an argument as help and messages write it.
func ArgumentName(arg *kong.Positional) string { return strings.ToUpper(arg.Name) }
