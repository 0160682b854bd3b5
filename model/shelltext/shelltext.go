// Package shelltext knows which arguments of common programs a shell reads as
// commands. A value must not stand in such an argument: it would become part of the
// command. The rules come from the manual pages of the programs.
package shelltext

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Reader returns the program that hands argument i of a command to a shell as text, ""
// if the argument stays data. words are the words of the command, in which a NUL byte
// stands for an unknown part. front is the part of word i before the value.
//
// Programs that start another program, such as sudo, env or find, need no rule for
// sh -c: every word before the argument is tried as a program.
func Reader(words []string, i int, front string) string {
	for k, word := range words[:i] {
		program := path.Base(word)
		rule := rules[program]
		if rule.joins && k > 0 && !slices.Contains(wrappers, path.Base(words[0])) {
			continue
		}
		if rule.reads != nil && rule.reads(words[k+1:i], front) {
			return program
		}
		if isUnknownShell(word) && readsText(words[k+1:i], front) {
			return "a shell"
		}
	}
	return ""
}

// rule describes one program.
type rule struct {
	reads func(before []string, front string) bool // whether the next argument is text for a shell; before are the arguments before it
	way   string                                   // the suggestion, in which EXPR stands for the expression
	// joins is set when the program needs no option to hand words to a shell. The names of
	// such programs are also names of packages and services, so they count only as the
	// program of the command or behind a wrapper.
	joins bool
}

const (
	asArgument  = `write the text without it and give it as an argument: sh -c 'echo "$1"' sh EXPR`
	asVariable  = `set environment: {NAME: EXPR} and write "$NAME" in a text in single quotes`
	onTheStream = "send it to the other host on standard input, and read it there"
)

var (
	shell   = rule{reads: readsText, way: asArgument}
	starter = rule{reads: followsCommandOption, way: asVariable}
	remote  = rule{reads: followsHost, way: onTheStream, joins: true}
)

var rules = map[string]rule{
	"sh": shell, "ash": shell, "dash": shell, "bash": shell, "rbash": shell, "ksh": shell, "mksh": shell,
	"oksh": shell, "yash": shell, "zsh": shell, "fish": shell, "csh": shell, "tcsh": shell, "posh": shell,
	"su": starter, "runuser": starter, "script": starter, "flock": starter,
	"ssh": remote, "slogin": remote, "rsh": remote, "autossh": remote, "dbclient": remote,
	"sg":       {reads: func(before []string, _ string) bool { return len(before) > 0 }, way: asVariable, joins: true},
	"watch":    {reads: readsWatched, way: asVariable, joins: true},
	"parallel": {reads: readsParallel, way: asVariable, joins: true},
}

// wrappers are programs that start the program behind them.
var wrappers = []string{
	"sudo", "doas", "env", "nice", "ionice", "nohup", "setsid", "timeout", "stdbuf", "time", "command", "exec", "builtin",
	"sshpass", "flock", "xargs", "chronic", "systemd-run", "systemd-cat", "unbuffer", "runuser", "su", "chroot", "unshare", "nsenter",
}

// IsText reports whether a shell with these options reads the next word as its text.
func IsText(options []string) bool { return readsText(options, "") }

// readsText implements IsText. front begins with an option if the text is part of it.
func readsText(options []string, front string) bool {
	if len(options) == 0 {
		return strings.HasPrefix(front, "--command=")
	}
	text, argument := false, false
	for _, option := range options {
		switch {
		case argument:
			argument = false
		case !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+"):
			return false // the text itself: the words behind it are its arguments
		case option == "--command":
			text = true
		case strings.HasPrefix(option, "--"):
			argument = slices.Contains([]string{"--rcfile", "--init-file", "--emulate"}, option)
		default:
			text = text || option[0] == '-' && strings.Contains(option, "c")
			argument = strings.HasSuffix(option, "o") || strings.HasSuffix(option, "O")
		}
	}
	return text && !argument
}

// commandOption matches an option whose argument is a command: as the next word, or
// behind it in the same word.
var (
	commandOption  = regexp.MustCompile(`^(-[A-Za-z]*c|--command|--session-command)$`)
	commandInside  = regexp.MustCompile(`^(-[A-Za-z]*c|--command=|--session-command=)`)
	remoteCommands = regexp.MustCompile(`^(-[A-Za-z]*o *)?["']?(ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)[ =]`)
)

// followsCommandOption is the rule of su, runuser, script and flock.
func followsCommandOption(before []string, front string) bool {
	return commandInside.MatchString(front) || len(before) > 0 && commandOption.MatchString(before[len(before)-1])
}

// sshOptions are the options of ssh that take an argument (OpenSSH 9).
const sshOptions = "BbcDEeFIiJLlmOoPpQRSWw"

// followsHost is the rule of ssh: the remote shell reads every word behind the host.
func followsHost(before []string, front string) bool {
	if remoteCommands.MatchString(front) {
		return true
	}
	argument := false
	for _, word := range before {
		switch {
		case argument:
			argument = false
		case strings.HasPrefix(word, "-") && len(word) > 1:
			at := strings.IndexAny(word[1:], sshOptions)
			argument = at >= 0 && at == len(word)-2
		default:
			return true
		}
	}
	return false
}

// readsWatched is the rule of watch, which hands its words to sh unless -x is set.
func readsWatched(before []string, front string) bool {
	argument := false
	for _, word := range before {
		switch {
		case argument:
			argument = false
		case word == "-x", word == "--exec":
			return false
		case word == "-n", word == "--interval":
			argument = true
		case !strings.HasPrefix(word, "-"):
			return true
		}
	}
	return !argument && !strings.HasPrefix(front, "-")
}

// readsParallel is the rule of parallel: it quotes the words behind :::, but not its
// command.
func readsParallel(before []string, _ string) bool {
	return !slices.ContainsFunc(before, func(word string) bool { return strings.HasPrefix(word, ":::") })
}

// isUnknownShell reports whether a word is a variable that probably names a shell.
func isUnknownShell(word string) bool {
	return word == "\x00" || word == "$SHELL" || word == "${SHELL}"
}

// Advise returns the message and the suggestion for a value that stands in a text for
// the shell of a program, as Reader names it. expr is the expression as written.
func Advise(program, expr string) (message, suggestion string) {
	way := cmp.Or(rules[program].way, asArgument)
	return expr + " stands in a text that " + program + " reads as a command: its value cannot be kept as data there", strings.Replace(way, "EXPR", expr, 1)
}
