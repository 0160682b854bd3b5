package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model/spelling"
)

// Synonyms are the words that other tools use for words of settle.
type Synonyms struct {
	ours   map[string]string // by the word of the other tool
	theirs []string          // the words of other tools, sorted
}

func newSynonyms(ours map[string]string) Synonyms {
	return Synonyms{ours, slices.Sorted(maps.Keys(ours))}
}

// keySynonyms are for the keys of a manifest.
var keySynonyms = newSynonyms(map[string]string{
	"tasks": "resources", "steps": "resources", "states": "resources", "jobs": "resources", "execs": "resources",
	"fail_on_error": "fail_fast", "failfast": "fail_fast", "stop_on_error": "fail_fast", "any_errors_fatal": "fail_fast",
	"fail_fast":   "fail_on_error", // under ccm
	"concurrency": "parallel", "forks": "parallel", "max_parallel": "parallel", "parallelism": "parallel",
	"id": "name", "title": "name", "desc": "description", "summary": "description", "comment": "description",
	"mask": "secrets", "sensitive": "secrets", "no_log": "secrets",
})

// propertySynonyms are for the properties of resources.
var propertySynonyms = newSynonyms(map[string]string{
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

// typeSynonyms are for types.
var typeSynonyms = newSynonyms(map[string]string{
	"command": "exec", "cmd": "exec", "run": "exec", "shell": "exec", "script": "exec", "task": "exec", "step": "exec", "execute": "exec", "bash": "exec",
	"template": "file", "copy": "file", "directory": "file", "dir": "file", "folder": "file", "link": "file", "symlink": "file", "tidy": "file",
	"apt": "package", "dnf": "package", "yum": "package", "pkg": "package", "packages": "package", "apt_package": "package",
	"systemd": "service", "systemd_service": "service", "systemd_unit": "service", "daemon": "service", "openrc": "service",
})

// ChoiceSynonyms are for the values of a property with choices.
var ChoiceSynonyms = newSynonyms(map[string]string{
	"sh": "shell", "bash": "shell", "/bin/sh": "shell", "/bin/bash": "shell", "command": "posix", "direct": "posix", "none": "posix",
	"yes": "true", "always": "true", "on": "true", "no": "false", "never": "false", "off": "false",
	"failure": "on_failure", "on_error": "on_failure", "onfailure": "on_failure",
})

// Near returns the candidate that a word most likely stands for, "" when none is
// close. A synonym goes first, then the candidate with the smallest edit distance.
func Near(word string, candidates []string, synonyms Synonyms) string {
	plain := strings.ReplaceAll(strings.ToLower(word), "-", "_")
	if ours := synonyms.ours[plain]; slices.Contains(candidates, ours) {
		return ours
	}
	ours, distance := spelling.Closest(plain, candidates, spelling.Tolerance(plain))
	if distance <= 1 {
		return ours
	}
	if theirs, _ := spelling.Closest(plain, synonyms.theirs, 2); slices.Contains(candidates, synonyms.ours[theirs]) {
		return synonyms.ours[theirs] // a misspelled synonym
	}
	return ours
}

// Either returns words as alternatives: "a, b or c".
func Either(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
