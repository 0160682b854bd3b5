package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// foreign are other tools' words for what settle calls differently.
type foreign struct {
	ours   map[string]string // by their word
	theirs []string          // their words, sorted
}

func newForeign(ours map[string]string) foreign {
	return foreign{ours, slices.Sorted(maps.Keys(ours))}
}

// keyWords are other tools' words for the keys of a manifest.
var keyWords = newForeign(map[string]string{
	"tasks": "resources", "steps": "resources", "states": "resources", "jobs": "resources", "execs": "resources",
	"fail_on_error": "fail_fast", "failfast": "fail_fast", "stop_on_error": "fail_fast", "any_errors_fatal": "fail_fast",
	"fail_fast":   "fail_on_error", // under ccm
	"concurrency": "parallel", "forks": "parallel", "max_parallel": "parallel", "parallelism": "parallel",
	"id": "name", "title": "name", "desc": "description", "summary": "description", "comment": "description",
	"mask": "secrets", "sensitive": "secrets", "no_log": "secrets",
})

// propertyWords are the same for the properties of resources.
var propertyWords = newForeign(map[string]string{
	"cmd": "command", "cmds": "command", "run": "command", "script": "command", "exec": "command", "argv": "command", "args": "command",
	"dir": "cwd", "chdir": "cwd", "workdir": "cwd", "working_dir": "cwd", "working_directory": "cwd",
	"env": "environment", "environ": "environment", "vars": "environment", "variables": "environment",
	"needs": "require", "deps": "require", "depends": "require", "depends_on": "require", "dependencies": "require", "requires": "require", "after": "require", "prereqs": "require",
	"listen": "subscribe", "watch": "subscribe", "on_changes": "subscribe", "triggered_by": "subscribe", "replace_triggered_by": "subscribe",
	"handler": "notify", "triggers": "notify",
	"if": "when", "condition": "when", "conditions": "when", "only_if": "onlyif", "precondition": "onlyif", "preconditions": "onlyif",
	"not_if": "unless", "skip_if": "unless", "status": "unless",
	"retries": "tries", "retry": "tries", "attempts": "tries", "max_attempts": "tries", "retry_delay": "try_sleep", "delay": "try_sleep", "retry_interval": "try_sleep",
	"ignore_errors": "ignore_failure", "ignore_error": "ignore_failure", "allow_failure": "ignore_failure", "continue_on_error": "ignore_failure", "check": "ignore_failure",
	"no_log": "sensitive", "secret": "sensitive", "silent": "logoutput", "quiet": "logoutput", "log": "logoutput",
	"become_user": "user", "run_as": "user", "uid": "user", "gid": "group", "become_group": "group", "runas": "user", "owner": "user", "become": "user", "sudo": "user",
	"exit_codes": "returns", "exit_code": "returns", "valid_exit_codes": "returns", "success_codes": "returns", "success_exit_codes": "returns", "returncodes": "returns", "failed_when": "returns",
	"changed_when": "unchanged", "check_mode": "unchanged",
	"executable": "shell", "interpreter": "shell", "input": "stdin", "limit": "timeout", "deadline": "timeout",
	"desc": "description", "summary": "description", "comment": "description", "id": "name", "title": "name", "label": "tags", "labels": "tags",
	"generates": "creates", "output": "creates", "outputs": "creates", "produces": "creates", "targets": "creates", "unless_exists": "creates",
	"src": "source", "dest": "path", "destination": "path", "filename": "path", "perms": "mode", "permissions": "mode", "chmod": "mode",
	"state": "ensure", "text": "content", "body": "content", "user": "owner", "link_to": "target", "overwrite": "replace", "recursive": "recurse", "verify": "validate", "check_cmd": "validate",
})

// typeWords are the same for types.
var typeWords = newForeign(map[string]string{
	"command": "exec", "cmd": "exec", "run": "exec", "shell": "exec", "script": "exec", "task": "exec", "step": "exec", "execute": "exec", "bash": "exec",
	"template": "file", "copy": "file", "directory": "file",
})

// choiceWords are the same for the values of a property.
var choiceWords = newForeign(map[string]string{
	"sh": "shell", "bash": "shell", "/bin/sh": "shell", "/bin/bash": "shell", "command": "posix", "direct": "posix", "none": "posix",
	"yes": "true", "always": "true", "on": "true", "no": "false", "never": "false", "off": "false",
	"failure": "on_failure", "on_error": "on_failure", "onfailure": "on_failure",
})

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", word)
}

// near finds the candidate that a word most likely stands for: what other
// tools call so, else the one with the fewest slips between them. It returns
// "" when none is close.
func near(word string, candidates []string, words foreign) string {
	plain := strings.ReplaceAll(strings.ToLower(word), "-", "_")
	if ours := words.ours[plain]; slices.Contains(candidates, ours) {
		return ours
	}
	ours, distance := spelling.Closest(plain, candidates, spelling.Tolerance(plain))
	if distance <= 1 {
		return ours
	}
	if theirs, _ := spelling.Closest(plain, words.theirs, 2); slices.Contains(candidates, words.ours[theirs]) {
		return words.ours[theirs] // a slip in another tool's word
	}
	return ours
}

// unknownKey refuses a key of the manifest that no one knows. It returns the key
// that is probably meant.
func (l *loader) unknownKey(key *yaml.Node, table []model.Property) string {
	if l.notYet(key, "") {
		return ""
	}
	var words []string
	for _, p := range table {
		words = append(words, p.Name)
	}
	meant := near(key.Value, words, keyWords)
	suggestion := didYouMean(meant)
	if l.vocabularies[key.Value] != nil {
		meant = key.Value
		suggestion = fmt.Sprintf("put it into a list under resources: \"- %s:\"", key.Value)
	}
	if l.base.CCM && suggestion == "" && propertyNamed(keys, key.Value) != nil {
		suggestion = "a CCM manifest has no such key: put resources at the top instead of ccm"
	}
	if !l.base.CCM && propertyNamed(ccmKeys, key.Value) != nil && suggestion == "" {
		suggestion = "only a CCM manifest has it, under ccm:"
	}
	if suggestion == "" {
		suggestion = "settle explain lists the keys"
		if l.base.CCM {
			suggestion = "there are " + strings.Join(words, ", ")
		}
	}
	l.refuse(key, "unknown key "+quote(key.Value), suggestion)
	return meant
}

// unknownType refuses an entry of a type that no one knows. It returns the type
// that is probably meant.
func (l *loader) unknownType(key *yaml.Node) string {
	var names []string
	for _, t := range l.types {
		names = append(names, t.Name)
	}
	meant := near(key.Value, names, typeWords)
	switch {
	case meant != "":
		l.refuse(key, "unknown type "+quote(key.Value), didYouMean(meant))
		return meant
	case !l.notYet(key, "resources of type "):
		l.refuse(key, "unknown type "+quote(key.Value), "settle knows "+strings.Join(names, ", "))
	}
	return key.Value
}

// unknownProperty refuses a property that a type has not.
func (l *loader) unknownProperty(key *yaml.Node, id string, v *vocabulary) {
	count := len(l.problems)
	suggestion := didYouMean(near(key.Value, v.words, propertyWords))
	if suggestion != "" || !l.notYet(key, "") {
		l.refuse(key, "unknown property "+quote(key.Value), cmp.Or(suggestion, "settle explain "+v.Name+" lists them"))
	}
	for i := count; i < len(l.problems); i++ {
		l.problems[i].ID, l.problems[i].Property = id, key.Value
	}
}

// maxGuesses bounds how many names are compared with references that name
// nothing: a file may have very many of both.
const maxGuesses = 200_000

// nearRef suggests what a reference that names nothing was meant to name.
func (l *loader) nearRef(text, name string) string {
	if l.known == nil {
		for i := range l.m.Resources {
			l.known = append(l.known, l.ids[i])
			if alias := l.m.Resources[i].AliasID(); alias != "" {
				l.known = append(l.known, alias)
			}
		}
	}
	if l.guesses += len(l.known); l.guesses > maxGuesses {
		return ""
	}
	for _, known := range l.known {
		if strings.HasPrefix(known, text+",") || strings.HasPrefix(known, text+" #") {
			return fmt.Sprintf("did you mean %q? quote it: YAML ends it at the mark", known)
		}
	}
	meant, _ := spelling.Closest(text, l.known, spelling.Tolerance(name))
	return didYouMean(meant)
}
