package main

// purpose is what settle is, in one line.
const purpose = "bring one machine into the state that a YAML manifest declares"

// description is the head of settle --help.
var description = `settle brings one machine into the state that a YAML manifest declares.

  settle plan      say what would be done
  settle apply     do it

Exit codes:` + columns(exitEntries)

// about is what the manual page says of settle as a whole.
var about = []string{
	`A manifest lists resources: commands made idempotent, files, and servers whose configuration a helper program decides. They are applied from top to bottom, each after those that it depends on. A resource that subscribes to others is refreshed when one of them changed.`,
	`settle plan says what settle apply would do, by the same rules, and does nothing but run guards. settle apply does it once and exits. A refresh that is owed is never lost: not by a failure, not by an interrupt, not by a kill.`,
	`Standard output holds the result, in the format of --output, and nothing else; standard error holds what is told on the way, and what is wrong.`,
}

// firstSteps is what settle alone says.
const firstSteps = `settle brings this machine into the state that a manifest declares. Next:
  settle init      make a settle.yaml to begin with
  settle explain   what else may stand in it
  settle plan      see what would be done, and do nothing
  settle apply     do it
  settle --help    all commands, flags and exit codes`

// Help is shown by settle apply --help.
func (*applyCommand) Help() string {
	return `Examples:

    settle apply                          settle.yaml in this directory
    settle apply site.yaml app.yaml       one after the other
    settle apply --parallel 4 site.yaml   up to four resources at once
    settle apply --only exec#reload       this one, and all upstream of it
    settle apply --var env=test           with a value for ${var.env}
    settle apply --plan plan.json         what that plan says, while it holds
    settle apply -o json site.yaml        a report for programs
    generate | settle apply -             a manifest from standard input

Exits 0 when all is as declared, 1 when a resource failed, 2 with --detailed-exitcode when something changed.`
}

// Help is shown by settle plan --help.
func (*planCommand) Help() string {
	return `Examples:

    settle plan                              settle.yaml in this directory
    settle plan --detailed-exitcode          exit 2 when there is something to do
    settle plan --no-guards site.yaml        start no process at all
    settle plan -v site.yaml                 list what is stable too, and why
    settle plan --tags web site.yaml         a part, and all upstream of it
    settle plan --var-file test.yaml         with values for ${var.…} from a file
    settle plan --out plan.json site.yaml    keep it for settle apply --plan

Exits 0, with --detailed-exitcode 2 when there is something to do, 1 when a guard cannot be read.`
}

// Help is shown by settle validate --help.
func (*validateCommand) Help() string {
	return `Examples:

    settle validate                     settle.yaml in this directory
    settle validate --strict *.yaml     warnings are problems too
    settle validate manifests           every *.yaml and *.yml in a directory that none of them includes
    generate | settle validate -        a manifest from standard input

Exits 0 when there is no problem, 65 when there is one, 66 when a manifest cannot be read.`
}

// Help is shown by settle graph --help.
func (*graphCommand) Help() string {
	return `An arrow points from what goes first to what waits for it: solid when a change refreshes, dashed when it only goes first.

Examples:

    settle graph site.yaml | dot -Tsvg > site.svg
    settle graph -o mermaid site.yaml
    settle graph --run last site.yaml     coloured by what the last run did`
}

// Help is shown by settle list --help.
func (*listCommand) Help() string {
	return `Examples:

    settle list site.yaml
    settle list --tags web site.yaml     what a selection holds
    settle list -o json site.yaml | jq -r '.resources[].id'`
}

// Help is shown by settle schema --help.
func (*schemaCommand) Help() string {
	return `Example:

    settle schema > .settle.schema.json

A manifest whose first line is "# yaml-language-server: $schema=./.settle.schema.json" is then completed and checked by editors.`
}

// Help is shown by settle explain --help.
func (*explainCommand) Help() string {
	return `Examples:

    settle explain                  the types
    settle explain exec             all properties of a type
    settle explain exec.creates     one of them`
}

// Help is shown by settle init --help.
func (*initCommand) Help() string {
	return `Makes settle.yaml in this directory, commented, and .settle.schema.json beside it, by which editors complete and check it. Overwrites neither: exits 73 when there is one.

Example:

    settle init && settle plan`
}

// Help is shown by settle version --help.
func (*versionCommand) Help() string {
	return `Example:

    settle version --json`
}
