package main

// purpose is what settle is, in one line.
const purpose = "bring one machine into the state that a YAML manifest declares"

// description is the head of settle --help.
var description = `settle brings one machine into the state that a YAML manifest declares.

  settle plan      say what would be done
  settle apply     do it

Exit codes:` + formatColumns(exitEntries)

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
