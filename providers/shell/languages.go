package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// languages maps a program name to the shell languages it may speak. /bin/sh is
// often bash, and ash and ksh know much of bash: a value must be safe in all.
var languages = map[string][]syntax.LangVariant{
	"sh":   {syntax.LangPOSIX, syntax.LangBash},
	"ash":  {syntax.LangPOSIX, syntax.LangBash},
	"dash": {syntax.LangPOSIX},
	"bash": {syntax.LangBash},
	"ksh":  {syntax.LangPOSIX, syntax.LangMirBSDKorn},
	"zsh":  {syntax.LangBash, syntax.LangZsh},
}

// languagesOf returns the languages of the shell that reads the text after words,
// or an error when its quoting is not known.
func languagesOf(words []string) ([]syntax.LangVariant, error) {
	if len(words) == 0 {
		return languages["sh"], nil
	}
	name, options := path.Base(words[0]), words[1:]
	if name == "env" && len(options) > 0 { // env bash
		name, options = path.Base(options[0]), options[1:]
	}
	if name == "busybox" && len(options) > 0 && (options[0] == "sh" || options[0] == "ash") {
		name, options = options[0], options[1:]
	}
	known, ok := languages[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("settle does not know how %s quotes, and so cannot put a value into its text", name)
	case !readsText(options):
		return nil, fmt.Errorf("%s does not read the command as shell text: its words do not end with -c", name)
	}
	return known, nil
}

// readsText reports whether a shell with these options reads the next word as its text.
func readsText(options []string) bool {
	text, argument := false, false
	for _, option := range options {
		switch {
		case argument:
			argument = false
		case !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+"):
			return false // the text itself: what follows are its arguments
		case strings.HasPrefix(option, "--"):
			argument = slices.Contains([]string{"--rcfile", "--init-file", "--emulate"}, option)
		default:
			text = text || option[0] == '-' && strings.Contains(option, "c")
			argument = strings.HasSuffix(option, "o") || strings.HasSuffix(option, "O")
		}
	}
	return text && !argument
}
