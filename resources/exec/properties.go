package exec

import "github.com/settle-cm/settle/model"

// properties lists the properties of an exec beside the common ones. The loader,
// the schema, explain and the README are made from this list.
var properties = []model.Property{
	{Name: "command", Kind: model.CommandLine, Default: "the name", Meaning: "what to run; a list gives the exact words (posix only)",
		More: `Without it the name is the command.

With the posix provider the line is split into words by the quoting rules of sh and by nothing else: $USER, * and | are handed on as they stand, and an operator such as && is refused when the manifest is read. With the shell provider the whole text goes to /bin/sh.

A bare program name is looked up in path, else in PATH; one with a slash is relative to cwd.`,
		Example: "/usr/bin/tar -xzf app.tar.gz"},
	{Name: "provider", Kind: model.Choice, Choices: []string{"posix", "shell"}, Default: "posix", Meaning: "posix splits the command into words and starts it without a shell; shell hands the whole text to /bin/sh -c",
		More: `A value in a command is data, whatever it holds. With posix, ${var.x} is one word, or a part of one. In the text of a shell it is quoted as its place demands: among plain words, in "…", in '…', and in $(…). Where no quoting would keep it data it is refused: in here-documents, backquotes, comments and arithmetic, in names, in what eval or sh -c read as text again. There, environment: {NAME: "${var.x}"} hands it over, and "$NAME" is it.

${raw.var.x} goes into the text of a shell as it stands: for a number in arithmetic, or a part of the command itself. What a program makes of its arguments is its own: ssh and su hand them to another shell.`,
		Example: "shell"},
	{Name: "shell", Kind: model.Lines, Default: "[/bin/sh, -c]", Meaning: "the words that the command's text is appended to; implies provider: shell",
		More:    `The text of the command becomes the last word. With [/bin/bash, -euo, pipefail, -c] a failure in the middle of a pipe or of several lines is a failure.`,
		Example: "[/bin/bash, -euo, pipefail, -c]"},
	{Name: "cwd", Kind: model.Line, Path: true, Default: "the manifest's directory; with user, that user's home", Meaning: "working directory; a relative one is relative to the manifest's directory",
		More:    `It is looked at right before the command starts, so an earlier resource may make it. The command's PWD is what is written here.`,
		Example: "/opt/app"},
	{Name: "environment", Kind: model.Environment, Meaning: "variables for the command and its guards, on top of settle's own; values are not expanded",
		More:    `Written as a map, or as a list of KEY=VALUE. Values are taken as they stand: 0755 and yes stay text, $PATH stays $PATH (use path to extend that). Names under secrets are hidden in all output.`,
		Example: "{APP_ENV: production}"},
	{Name: "path", Kind: model.PathList, Default: "PATH of environment, else settle's", Meaning: "absolute directories where a bare command is looked up, and the child's PATH",
		More:    `It wins over PATH in environment. Guards use it too.`,
		Example: "/usr/local/bin:/usr/bin:/bin"},
	{Name: "returns", Kind: model.Codes, Default: "[0]", Meaning: "exit codes that mean success",
		More:    `Death by a signal and a timeout are never success, whatever is listed here.`,
		Example: "[0, 1, 2]"},
	{Name: "unchanged", Kind: model.CodesOrTrue, Meaning: "true, or exit codes out of returns, that mean: it ran and changed nothing",
		More:    `A run that ends so is reported as stable and refreshes nobody. An exec of which every success is unchanged is a check: it is shown, but is never something to do.`,
		Example: "[0]"},
	{Name: "creates", Kind: model.Lines, Meaning: "paths that the command makes: when all of them exist it does not run; relative ones are relative to cwd",
		More: `The paths are looked at right before the command's turn, after everything that it depends on; a link counts, whatever it points to. When one is missing the command runs, and when one is still missing after a success that is a warning: it will run again next time.

A command that made its paths and then failed is not taken for done. It runs again in the next run, until it succeeds or settle forget says that it is fine as it is.

A refresh runs the command whatever exists, unless on_refresh is check.`,
		Example: "/opt/app/bin/app"},
	{Name: "onlyif", Kind: model.CommandLines, Meaning: "run only if every one of these commands exits 0",
		More: `A guard has the command's provider, cwd, environment, path and user, and is read right before the command's turn, after everything that it depends on. settle plan runs guards too: they should change nothing.

A guard that cannot start, is killed or takes too long has said neither yes nor no: the resource has failed.`,
		Example: "test -e /etc/app.conf"},
	{Name: "unless", Kind: model.CommandLines, Meaning: "run only if none of these commands exits 0",
		More:    `See onlyif for how guards are run.`,
		Example: "id deploy"},
	{Name: "refreshonly", Kind: model.Bool, Default: "false", Meaning: "run only when refreshed by a publisher",
		More:    `Without a subscribe of its own, or a notify elsewhere, it never runs. A first run refreshes only what has a publisher that changes in it.`,
		Example: "true"},
	{Name: "logoutput", Kind: model.Choice, Choices: []string{"true", "on_failure", "false"}, Default: "on_failure", Meaning: "true streams output as it comes; on_failure shows the tail of it when the command failed; false shows none", Example: "true"},
	{Name: "user", Kind: model.Line, Default: "who runs settle", Meaning: "run as this user, with its home, groups and a clean environment; another user than one's own needs root", Example: "deploy"},
	{Name: "group", Kind: model.Line, Default: "the user's", Meaning: "run with this group", Example: "www-data"},
	{Name: "umask", Kind: model.Line, Default: "settle's", Meaning: "permissions that files made by the command do not get, octal", Example: "\"0027\""},
	{Name: "stdin", Kind: model.Text, Default: "/dev/null", Meaning: "text for the command's standard input",
		More:    `Without it the command reads end of file at once.`,
		Example: "yes"},
	{Name: "ensure", Kind: model.Choice, Choices: []string{"present"}, Default: "present", Meaning: "accepted for CCM manifests", Example: "present"},
}
