package main

// Help is shown by settle history --help.
func (*historyCommand) Help() string {
	return `The last run is the first line. Kept are the last 50 runs that changed something, failed or were stopped, and the last 50 that found all as declared (settle apply --keep N).

Examples:

    settle history
    settle history --since 20260102T030405Z-k3pd7q   runs after this one
    settle history -o json site.yaml | jq -r '.runs[0].run'`
}

// Help is shown by settle show --help.
func (*showCommand) Help() string {
	return `Examples:

    settle show last                                the last run of settle.yaml
    settle show 20260102T030405Z-k3pd7q site.yaml   one that settle history lists
    settle show last -o markdown site.yaml          as any format of a report`
}

// Help is shown by settle owed --help.
func (*owedCommand) Help() string {
	return `A refresh is owed when a resource changed, or may have changed, and a subscriber has not run with success since. The next apply pays it.

Examples:

    settle owed
    settle owed -o json site.yaml | jq -r '.owed[].id'`
}

// Help is shown by settle forget --help.
func (*forgetCommand) Help() string {
	return `Drops the refreshes that are owed to a resource, and the mark that an attempt left what it creates unfinished: what is there is then taken for whole.

Examples:

    settle forget exec#reload             in settle.yaml
    settle forget exec#reload site.yaml
    settle forget --all site.yaml`
}

// Help is shown by settle pause --help.
func (*pauseCommand) Help() string {
	return `While it is paused, apply exits 75 and says who paused it, why and until when. What is owed stays owed.

Examples:

    settle pause --reason "database is being moved" --for 2h site.yaml
    settle pause --all`
}

// Help is shown by settle resume --help.
func (*resumeCommand) Help() string {
	return `Examples:

    settle resume site.yaml
    settle resume --all`
}
