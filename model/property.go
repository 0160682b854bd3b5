package model

// Property is one property of a resource type, or one key of the manifest. It
// is the single source for the decoder, the schema, explain, the README's
// tables and completion.
type Property struct {
	Name    string
	Kind    Kind
	Choices []string // for Choice
	Path    bool     // what it names is relative to the manifest's directory
	Default string   // as a person would write it, "" when absent means nothing
	Meaning string   // one sentence
	More    string   // what else is worth knowing, in paragraphs; for explain
	Example string   // a YAML value, or several lines of it
}

// Kind is the shape of a property's value, checked before a type sees it.
type Kind int

// The kinds of values.
const (
	Text         Kind = iota // one scalar, as written
	Line                     // the same without one trailing newline; any other newline is an error (paths, names)
	Bool                     // true or false
	Int                      // a decimal integer
	Count                    // a decimal integer of at least 1
	Duration                 // a Go duration, also with d and w; 0 is none
	Choice                   // one of Choices
	Lines                    // a Line or a list of them
	PathList                 // a colon-separated Line or a list of Lines
	CommandLine              // a text, or a list: the exact words
	CommandLines             // a text or a list of texts, each a command
	Codes                    // a list of exit codes
	CodesOrTrue              // true, or a list of exit codes
	Environment              // a list of KEY=VALUE or a map
	Refs                     // a reference or a list of them
	TextMap                  // a map from text to text
	AnyValue                 // any YAML: the type looks for itself
	Entries                  // the resources of a manifest
	Settings                 // a map from types to properties
	Vars                     // the variables that a manifest declares
	Condition                // a text that is true or false of the machine
	Control                  // a map of if and unless, a Condition each
)

var kindWords = [...]string{
	Text: "a text", Line: "one line of text", Bool: "true or false", Int: "an integer", Count: "an integer of at least 1",
	Duration: "a duration such as 90s, 5m or 1d", Choice: "one of a few words", Lines: "a line of text or a list of them",
	PathList: "directories: one text with colons or a list", CommandLine: "a command or the list of its words",
	CommandLines: "a command or a list of commands", Codes: "a list of exit codes", CodesOrTrue: "true or a list of exit codes",
	Environment: "a list of KEY=VALUE or a map", Refs: "a reference (type#name) or a list of them",
	TextMap: "a map of texts", AnyValue: "any value",
	Entries: "a list of entries", Settings: "a map from types to properties", Vars: "a map of variables",
	Condition: "a condition", Control: "a map with if, unless or both",
}

// String says in words what a value of the kind looks like.
func (k Kind) String() string { return kindWords[k] }

// Common lists the properties of every type, in the order of the reference.
var Common = []Property{
	{Name: "name", Kind: Line, Meaning: "what the resource is called: unique within its type and used in references", Example: "reload"},
	{Name: "alias", Kind: Line, Meaning: "a second name for references; equal to a former name it carries that name's debts over a rename",
		More: `References may use the name or the alias. Names and aliases are unique within their type.

After a rename, give the old name as alias: refreshes that are owed to it, and what is remembered of an attempt that did not finish, are then carried over.`,
		Example: "reload-httpd"},
	{Name: "for_each", Kind: AnyValue, Meaning: "a list or a map: one resource for each of its items, with ${each.key} and ${each.value}",
		More:    `The key is the item's number in a list, from 0, and its key in a map. Names must differ, so put one of the two into the name. References name each resource by the name that it gets.`,
		Example: "[web1, web2]"},
	{Name: "description", Kind: Text, Meaning: "shown by plan, list and reports", Example: "restart the web server"},
	{Name: "tags", Kind: Lines, Meaning: "what --tags and --skip-tags select by",
		More:    `settle apply --tags web runs what has the tag and everything that it depends on; --skip-tags leaves out what has it, and what depends on that treats it as done.`,
		Example: "[web, deploy]"},
	{Name: "when", Kind: Condition, Meaning: "which machines the resource is for: a condition over var, env and host",
		More: `Where it is false nothing of the resource is looked at: it is stable and says why, what requires it goes on, and nobody is refreshed by it. What was owed to it before stays owed, and nothing new is. It is found out before anything runs: what may change during a run is for onlyif and unless.

var.NAME is a variable, env.NAME a variable of the environment ("" when unset), host.NAME a fact of the machine; of for_each there are each.key and each.value. They are compared by == != < <= > >=, in, contains, startsWith, endsWith and matches (a regular expression), and joined by and, or and not. Functions: len, lower, upper, trim, split, int, float, string, and any, all, none, one and count for lists. A name that nobody knows is a mistake.`,
		Example: `host.family == "debian" and var.env != "test"`},
	{Name: "control", Kind: Control, Meaning: "the same as when, as CCM writes it: if a condition holds, and unless another one does",
		More:    `if and unless are conditions as those of when. The resource is for the machine when all that are given agree.`,
		Example: "if: host.os == \"linux\"\nunless: env.CI == \"true\""},
	{Name: "require", Kind: Refs, Meaning: "run after these resources, and not at all when one of them failed",
		More: `A required resource that is already as it should be, or that a guard kept from running, counts as done. One that failed, or was skipped because of a failure, does not: this resource is then skipped, and the report names the failure that it goes back to.

Without it the order in the file decides, and a failure further up does not keep what stands below from running.`,
		Example: "exec#unpack"},
	{Name: "subscribe", Kind: Refs, Meaning: "as require, and be refreshed when one of them changes",
		More: `A refresh runs the command even if creates or a guard would have kept it from running; on_refresh: check lets them decide. However many publishers change, it runs once.

A refresh is owed from the moment when the publisher begins, and written down: it survives a failed run, Ctrl-C and a crash, and is paid in the next run even though the publisher has nothing to do then. settle owed lists what is owed.`,
		Example: "[exec#unpack, exec#configure]"},
	{Name: "before", Kind: Refs, Meaning: "the edge of require, written from the other end",
		More:    `Useful where the other resource should not know of this one.`,
		Example: "exec#start"},
	{Name: "notify", Kind: Refs, Meaning: "the edge of subscribe, written from the other end",
		More:    `Useful where the other resource should not know of this one. See subscribe for what a refresh does.`,
		Example: "exec#reload"},
	{Name: "on_refresh", Kind: Choice, Choices: []string{"run", "check"}, Default: "run", Meaning: "run: a refresh runs it whatever creates and guards say; check: a refresh only makes it due, creates and guards decide",
		More:    `It matters only for what subscribes to something, or is notified. With check, a creates or guard that says no settles the refresh: nothing is owed any more.`,
		Example: "check"},
	{Name: "timeout", Kind: Duration, Default: "0", Meaning: "limit for each attempt, from the start of its process; 0 is no limit",
		More: `A number with a unit: ms, s, m, h, d (24 hours) or w, also several: 1h30m. When it is over the whole process group gets TERM, after a grace of ten seconds KILL, and the resource has failed, whatever its exit code.

Guards have the same limit, or five minutes where there is none.`,
		Example: "5m"},
	{Name: "tries", Kind: Count, Default: "1", Meaning: "how many attempts before it counts as failed",
		More:    `Every failure but one to start is tried again; creates and guards are not read again in between.`,
		Example: "3"},
	{Name: "try_sleep", Kind: Duration, Default: "1s", Meaning: "pause between attempts", Example: "10s"},
	{Name: "sensitive", Kind: Bool, Default: "false", Meaning: "show *** for its command, guards, stdin, environment and output everywhere; needs command",
		More:    `The name is what references and reports call the resource by, so it stays visible: that is why command has to be given. Where only a value is secret, secrets at the top of the manifest hides it and leaves the rest readable.`,
		Example: "true"},
	{Name: "ignore_failure", Kind: Bool, Default: "false", Meaning: "a failure is reported and ignored: dependents run, nobody is refreshed",
		More:    `The report shows it as failed and ignored, and the run can still end with exit code 0. What it was owed stays owed.`,
		Example: "true"},
}
