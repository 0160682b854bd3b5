package shell

import (
	"fmt"
	"path"

	"mvdan.cc/sh/v3/syntax"

	"github.com/settle-cm/settle/model/shelltext"
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
	case !shelltext.IsText(options):
		return nil, fmt.Errorf("%s does not read the command as shell text: its words do not end with -c", name)
	}
	return known, nil
}
