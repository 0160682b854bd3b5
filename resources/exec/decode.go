package exec

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
)

// Type returns the exec type.
func Type(opts Options) model.Type {
	w := &world{Options: opts}
	return model.Type{
		Name:       "exec",
		Meaning:    "a command, made idempotent by what it creates, by guards or by what it subscribes to",
		Properties: properties,
		Decode:     w.decode,
	}
}

// decode turns the properties of one resource into an exec. It records every
// problem in the body.
func (w *world) decode(b *model.Body) model.Spec {
	c := &command{
		w: w, base: b.Base, log: "on_failure", returns: []int{0},
		timeout: b.Duration("timeout"), sensitive: b.Bool("sensitive"),
		user: b.Text("user"), group: b.Text("group"),
		shell: b.Text("provider") == "shell" || b.Has("shell"),
	}
	if b.Has("logoutput") {
		c.log = b.Text("logoutput")
	}
	if b.Has("stdin") {
		c.stdin = []byte(b.Text("stdin"))
	}
	c.decodeCommand(b)
	c.decodeSurroundings(b)
	c.decodeCodes(b)
	c.decodeGuards(b)
	c.warnOfMistakes(b)
	return c
}

// refuseEmptyList refuses an empty list. Its author meant something else than to
// leave the property out.
func refuseEmptyList(b *model.Body, property, example string) {
	if v, ok := b.Values[property]; ok && v.Shape == model.List && len(v.Items) == 0 {
		b.Refuse(property, "the list is empty", "leave it out, or name "+example)
	}
}

func (c *command) decodeCommand(b *model.Body) {
	refuseEmptyList(b, "shell", "a shell: [/bin/sh, -c]")
	if b.Has("shell") && b.Text("provider") == "posix" {
		b.Refuse("shell", "shell is given beside provider: posix", "drop one of them")
	}
	v, ok := c.declared(b)
	switch {
	case v.Shape == model.List && c.shell:
		b.Refuse("command", "a list of words is for provider: posix", "write one text for the shell")
	case v.Shape == model.List:
		for _, item := range v.Items {
			c.argv = append(c.argv, item.Text)
		}
		b.RefuseShellText("command", v.Items)
		if len(c.argv) == 0 || c.argv[0] == "" {
			b.Refuse("command", "command is empty", "")
			return
		}
		c.text = c.w.Join(c.argv)
	case ok:
		c.argv, c.text = c.split(b, "command", v)
	default:
		c.argv, c.text = c.split(b, "", v)
	}
}

// declared returns the declared command, or the name that serves as one.
func (c *command) declared(b *model.Body) (v model.Value, ok bool) {
	if v, ok = b.Values["command"]; ok {
		return v, true
	}
	return b.Named, false
}

// split splits a command line by the rules of the resource's provider. Text is the
// command as a person would type it into a shell.
func (c *command) split(b *model.Body, property string, v model.Value) (argv []string, text string) {
	text = strings.TrimSuffix(model.RestoreExpressions(v.Text, v.Placeholders.Each()), "\n")
	if strings.TrimSpace(v.Text) == "" {
		b.RefuseAt(v.Pos, property, "command is empty", "")
		return nil, text
	}
	var err error
	if shell := b.Each("shell"); len(shell) > 0 {
		for _, word := range shell {
			argv = append(argv, word.Text)
		}
		var filled string
		filled, err = c.w.Fill(argv, v.Text, v.Placeholders.Each())
		if argv = append(argv, filled); err == nil && strings.TrimSpace(filled) == "" {
			err = errors.New("command is empty")
		}
	} else if c.shell {
		argv, err = c.w.Shell.Argv(v.Text, v.Placeholders.Each())
	} else {
		argv, err = c.w.Posix.Argv(v.Text, v.Placeholders.Each())
	}
	if err != nil {
		b.RefuseAt(v.Pos, property, err.Error(), model.SuggestionOf(err))
		return nil, text
	}
	if len(argv) == 0 || argv[0] == "" {
		b.RefuseAt(v.Pos, property, "command is empty", "")
		return argv, text
	}
	if c.shell {
		text = argv[len(argv)-1]
	} else {
		text = c.w.Join(argv)
	}
	if v.Placeholders != nil {
		v.Placeholders.Filled = text
	}
	return argv, strings.TrimSuffix(text, "\n")
}

func (c *command) decodeSurroundings(b *model.Body) {
	if dir := b.Text("cwd"); dir != "" {
		c.cwd = dir
		if !filepath.IsAbs(dir) {
			c.cwd = filepath.Join(b.Dir, dir)
		}
	} else if b.Has("cwd") {
		b.Refuse("cwd", "cwd is empty", "leave it out for the manifest's directory")
	} else if b.CCM {
		c.cwd = "/"
	} else if c.user == "" {
		c.cwd = b.Dir
	}
	for _, p := range b.Values["environment"].Pairs {
		c.env = append(c.env, pair{p.Key, p.Value.Text})
	}
	for _, v := range b.Each("path") {
		dirs := []string{v.Text}
		if b.Values["path"].Shape == model.Scalar {
			dirs = strings.Split(v.Text, ":")
		}
		for _, dir := range dirs {
			if strings.Contains(dir, ":") {
				b.RefuseAt(v.Pos, "path", fmt.Sprintf("%q is more than one directory", dir), "write an item for each")
			} else if !filepath.IsAbs(dir) {
				b.RefuseAt(v.Pos, "path", fmt.Sprintf("%q is not an absolute directory", dir), "")
			}
			c.path = append(c.path, dir)
		}
	}
	if text := b.Text("umask"); b.Has("umask") {
		mask, err := strconv.ParseUint(text, 8, 16)
		if err != nil || mask > 0o777 {
			b.Refuse("umask", fmt.Sprintf("%q is not an octal umask", text), `write it as "0022"`)
		}
		n := int(mask)
		c.umask = &n
	}
}

func (c *command) decodeCodes(b *model.Body) {
	if b.Has("returns") {
		c.returns = b.Codes("returns")
	}
	if v, ok := b.Values["unchanged"]; ok && v.Bool {
		c.unchanged = c.returns
		return
	}
	c.unchanged = b.Codes("unchanged")
	for _, v := range b.Values["unchanged"].Items {
		if !slices.Contains(c.returns, v.Int) {
			b.RefuseAt(v.Pos, "unchanged", fmt.Sprintf("%d is not in returns", v.Int), "add it to returns: only a success can be unchanged")
		}
	}
}

func (c *command) decodeGuards(b *model.Body) {
	if b.Text("on_refresh") == "check" {
		c.guards.OnRefresh = model.RefreshChecks
	}
	c.guards.RefreshOnly = b.Bool("refreshonly")
	refuseEmptyList(b, "creates", "a path")
	for _, v := range b.Each("creates") {
		if v.Text == "" {
			b.RefuseAt(v.Pos, "creates", "the path is empty", "")
		}
		c.guards.Creates = append(c.guards.Creates, v.Text)
	}
	for _, property := range []string{"onlyif", "unless"} {
		for _, v := range b.Each(property) {
			argv, text := c.split(b, property, v)
			c.guards.Commands = append(c.guards.Commands, model.Guard{Property: property, Command: text, Argv: argv})
		}
	}
}

// warnOfMistakes warns of texts that are valid but probably not meant.
func (c *command) warnOfMistakes(b *model.Body) {
	c.warnOfCommands(b)
	warnOfShell(b)
	for _, property := range []string{"creates", "cwd", "path"} {
		for _, v := range b.Each(property) {
			warnOfExpansion(b, property, v)
		}
	}
	for _, p := range b.Values["environment"].Pairs {
		warnOfExpansion(b, "environment", p.Value)
	}
	guarded := b.Has("creates") || b.Has("onlyif") || b.Has("unless")
	if b.Has("subscribe") && guarded && !b.Has("on_refresh") {
		b.Warn("subscribe", "a refresh runs the command whatever creates and guards say",
			"write on_refresh: run if that is meant, on_refresh: check if they should decide")
	}
}

// warnOfShell warns of a shell that would take the command's text for the name of a
// script, and of a shell whose words were written as one word.
func warnOfShell(b *model.Body) {
	words := b.Each("shell")
	if len(words) == 0 {
		return
	}
	program, arguments, several := strings.Cut(words[0].Text, " ")
	known := slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh", "ash"}, filepath.Base(program))
	takesText := slices.ContainsFunc(words[1:], func(v model.Value) bool {
		return strings.HasPrefix(v.Text, "-") && strings.Contains(v.Text, "c")
	})
	switch {
	case known && several:
		b.Warn("shell", fmt.Sprintf("%q is one word", words[0].Text), fmt.Sprintf("write a list: [%s, %s]", program, strings.Join(strings.Fields(arguments), ", ")))
	case known && !takesText:
		b.Warn("shell", program+" takes what the command says for the name of a script", "end the list with -c")
	}
}

func (c *command) warnOfCommands(b *model.Body) {
	if !c.shell && b.Text("provider") == "posix" && !b.Values["provider"].Default {
		return // an explicit provider means that no expansion is expected
	}
	warnings := c.w.Posix.Warnings
	if c.shell {
		warnings = c.w.Shell.Warnings
	}
	if c.shell && b.Has("shell") || warnings == nil {
		return
	}
	for _, property := range []string{"command", "onlyif", "unless"} {
		lines := b.Each(property)
		if property == "command" {
			v, _ := c.declared(b)
			lines = []model.Value{v}
			if v.Shape == model.List {
				continue // a list holds the exact words
			}
		}
		for _, v := range lines {
			for _, warning := range warnings(v.Text, v.Placeholders.Each()) {
				b.WarnAt(v.Pos, property, warning.Message, warning.Suggestion)
			}
		}
	}
}

// warnOfExpansion warns of a text that looks as if a shell would expand it. It
// ignores the values in the text: they are data.
func warnOfExpansion(b *model.Body, property string, v model.Value) {
	written := v.Template()
	switch {
	case strings.HasPrefix(written, "~"):
		b.WarnAt(v.Pos, property, "~ is not expanded here", "write the home directory out")
	case hasVariable(written):
		b.WarnAt(v.Pos, property, fmt.Sprintf("%q is not expanded here", v.Text), "write the value out")
	case hasGlob(written) && (property != "environment" || filepath.IsAbs(v.Text)):
		b.WarnAt(v.Pos, property, fmt.Sprintf("%q matches no files here: it is taken as it stands", v.Text), "write the names out")
	}
}

// hasGlob reports whether a text is a pattern for file names in a shell.
func hasGlob(text string) bool {
	if strings.ContainsAny(text, "*?") {
		return true
	}
	_, behind, ok := strings.Cut(text, "[")
	return ok && strings.Index(behind, "]") > 0
}

// hasVariable reports whether a text contains $NAME or ${.
func hasVariable(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		next := text[i+1]
		if text[i] == '$' && (next == '{' || next == '_' || 'a' <= next && next <= 'z' || 'A' <= next && next <= 'Z') {
			return true
		}
	}
	return false
}
