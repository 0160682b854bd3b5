package exec

import "github.com/settle-cm/settle/model"

// properties is what an exec has beside the common properties: the one source
// for the loader, the schema, explain and the README.
var properties = []model.Property{
	{Name: "command", Kind: model.CommandLine, Default: "the name", Meaning: "what to run; a list gives the exact words (posix only)", Example: "/usr/bin/tar -xzf app.tar.gz"},
	{Name: "provider", Kind: model.Choice, Choices: []string{"posix", "shell"}, Default: "posix", Meaning: "posix splits the command into words and starts it without a shell; shell hands the whole text to /bin/sh -c", Example: "shell"},
	{Name: "shell", Kind: model.Lines, Default: "[/bin/sh, -c]", Meaning: "the words that the command's text is appended to; implies provider: shell", Example: "[/bin/bash, -euo, pipefail, -c]"},
	{Name: "cwd", Kind: model.Line, Default: "the manifest's directory; with user, that user's home", Meaning: "working directory; a relative one is relative to the manifest's directory", Example: "/opt/app"},
	{Name: "environment", Kind: model.Environment, Meaning: "variables for the command and its guards, on top of settle's own; values are not expanded", Example: "{APP_ENV: production}"},
	{Name: "path", Kind: model.PathList, Default: "PATH of environment, else settle's", Meaning: "absolute directories where a bare command is looked up, and the child's PATH", Example: "/usr/local/bin:/usr/bin:/bin"},
	{Name: "returns", Kind: model.Codes, Default: "[0]", Meaning: "exit codes that mean success", Example: "[0, 1, 2]"},
	{Name: "unchanged", Kind: model.CodesOrTrue, Meaning: "true, or exit codes out of returns, that mean: it ran and changed nothing", Example: "[0]"},
	{Name: "creates", Kind: model.Lines, Meaning: "paths that the command makes: when all of them exist it does not run; relative ones are relative to cwd", Example: "/opt/app/bin/app"},
	{Name: "onlyif", Kind: model.CommandLines, Meaning: "run only if every one of these commands exits 0", Example: "test -e /etc/app.conf"},
	{Name: "unless", Kind: model.CommandLines, Meaning: "run only if none of these commands exits 0", Example: "id deploy"},
	{Name: "refreshonly", Kind: model.Bool, Default: "false", Meaning: "run only when refreshed by a publisher", Example: "true"},
	{Name: "logoutput", Kind: model.Choice, Choices: []string{"true", "on_failure", "false"}, Default: "on_failure", Meaning: "true streams output as it comes; on_failure shows the tail of it when the command failed; false shows none", Example: "true"},
	{Name: "user", Kind: model.Line, Default: "who runs settle", Meaning: "run as this user, with its home, groups and a clean environment; another user than one's own needs root", Example: "deploy"},
	{Name: "group", Kind: model.Line, Default: "the user's", Meaning: "run with this group", Example: "www-data"},
	{Name: "umask", Kind: model.Line, Default: "settle's", Meaning: "permissions that files made by the command do not get, octal", Example: "\"0027\""},
	{Name: "stdin", Kind: model.Text, Default: "/dev/null", Meaning: "text for the command's standard input", Example: "yes"},
	{Name: "ensure", Kind: model.Choice, Choices: []string{"present"}, Default: "present", Meaning: "accepted for CCM manifests", Example: "present"},
}
