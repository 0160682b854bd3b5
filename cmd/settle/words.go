package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// meant puts into settle's words what people have learnt to write elsewhere.
func meant(args []string) []string {
	switch {
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	case len(args) > 0 && args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	}
	return args
}

// sorted puts the flags of a command line before its arguments, as people are
// used to: kong takes no flag between two manifests. What it does not
// understand it leaves for kong to complain of.
func sorted(node *kong.Node, args []string) []string {
	var words, operands []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case len(arg) > 1 && arg[0] == '-':
			words = append(words, arg)
			if awaiting(node, arg) != nil {
				if i++; i == len(args) {
					return args // the value is missing, and what would be put behind is none
				}
				words = append(words, args[i])
			}
		case len(operands) == 0 && child(node, arg) != nil:
			node = child(node, arg)
			words = append(words, arg)
		default:
			operands = append(operands, arg)
		}
	}
	if len(operands) == 0 || len(node.Children) > 0 {
		return args
	}
	return append(append(words, "--"), operands...)
}

func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// awaiting returns the flag whose value is the word behind this one, if there is
// one: a long flag, or the last of several short ones.
func awaiting(node *kong.Node, arg string) *kong.Flag {
	if flag := longFlag(node, arg); flag != nil && !flag.IsBool() {
		return flag
	}
	if strings.HasPrefix(arg, "--") {
		return nil
	}
	for i, letter := range arg[1:] {
		flag := flagOf(node, func(f *kong.Flag) bool { return f.Short == letter })
		if flag != nil && !flag.IsBool() {
			if i == len(arg)-2 { // else what follows in the same word is the value
				return flag
			}
			return nil
		}
	}
	return nil
}

// longFlag returns the flag that is written so: --only.
func longFlag(node *kong.Node, arg string) *kong.Flag {
	long, ok := strings.CutPrefix(arg, "--")
	if !ok {
		return nil
	}
	return flagOf(node, func(f *kong.Flag) bool { return f.Name == long })
}

func flagOf(node *kong.Node, is func(*kong.Flag) bool) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if is(flag) {
				return flag
			}
		}
	}
	return nil
}
