package model

// Property is one property of a resource type, or one key of the manifest. The
// decoder, the schema, explain, the tables of the README and completion are all
// made from it.
type Property struct {
	Name    string
	Kind    Kind
	Choices []string // for Choice
	Path    bool     // a relative path in it starts at the manifest's directory
	Default string   // as written in a manifest, "" without a default
	Meaning string   // one sentence
	More    string   // more paragraphs, for explain
	Example string   // a YAML value, or several lines of it
}

// Kind is the form of a property's value. The loader checks it before Decode.
type Kind int

// The kinds of values.
const (
	Text         Kind = iota // one scalar, as written
	Line                     // the same without one trailing newline; any other newline is an error (paths, names)
	Bool                     // true or false
	Int                      // a decimal integer
	Count                    // a decimal integer of at least 1
	Duration                 // a Go duration, also with d and w; 0 means no duration
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
	AnyValue                 // any YAML, which the type checks itself
	Entries                  // the resources of a manifest
	Settings                 // a map from types to properties
	Vars                     // the variables that a manifest declares
	Hierarchy                // the levels that may override variables, in order
	Overrides                // a map from levels to values of variables
	Template                 // the path of a file whose text, with its values, is a content
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
	Hierarchy: "a list of levels, or a map of order and merge", Overrides: "a map from levels to maps of variables",
	Template: "the path of a file", Condition: "a condition", Control: "a map with if, unless or both",
}

// String describes a value of the kind in words.
func (k Kind) String() string { return kindWords[k] }

// Common lists the properties of every type, in the order of the reference.
var Common = []Property{
	{Name: "name", Kind: Line, Meaning: "the resource's name: unique within its type, used in references", Example: "reload"},
	{Name: "alias", Kind: Line, Meaning: "a second name for references; the old name after a rename, so that its owed refreshes are kept",
		More: `References may use the name or the alias. Names and aliases are unique within their type.

After a rename, give the old name as alias. Refreshes owed to the old name, and the record of an unfinished attempt, then apply to the renamed resource.`,
		Example: "reload-httpd"},
	{Name: "for_each", Kind: AnyValue, Meaning: "a list or a map: one resource for each of its items, with ${each.key} and ${each.value}",
		More:    `In a list the key is the item's number, from 0. In a map it is the item's key. Names must differ, so use one of the two values in the name. References use the resulting names.`,
		Example: "[web1, web2]"},
	{Name: "description", Kind: Text, Meaning: "shown by plan, list and reports", Example: "restart the web server"},
	{Name: "tags", Kind: Lines, Meaning: "labels for --tags and --skip-tags",
		More:    `settle apply --tags web runs the resources with that tag and everything they depend on. --skip-tags leaves out the resources with a tag; resources that depend on them treat them as done.`,
		Example: "[web, deploy]"},
	{Name: "when", Kind: Condition, Meaning: "a condition over var, env and host that says which machines the resource is for",
		More: `When it is false, settle does not check the resource. The resource is stable and its reason says why, resources that require it run, and its subscribers are not refreshed. Refreshes that are owed to it stay owed, and no new ones are added. Conditions are evaluated before anything runs. For anything that may change during a run, use onlyif and unless.

var.NAME is a variable, env.NAME an environment variable ("" when unset) and host.NAME a fact of the machine. With for_each there are also each.key and each.value. Operators: == != < <= > >=, in, contains, startsWith, endsWith and matches (a regular expression), joined by and, or and not. version("1.10") > version("1.9") compares versions, and < between two texts is an error. Functions: version, len, lower, upper, trim, split, int, float, string, and for lists any, all, none, one and count. An unknown name is an error.`,
		Example: `host.family == "debian" and var.env != "test"`},
	{Name: "control", Kind: Control, Meaning: "the form of when in CCM manifests: conditions under if and unless",
		More:    `if and unless are conditions like that of when. The resource is for the machine when the condition of if is true and that of unless is false.`,
		Example: "if: host.os == \"linux\"\nunless: env.CI == \"true\""},
	{Name: "require", Kind: Refs, Meaning: "run after these resources; skip this one when one of them failed",
		More: `A required resource that is stable, also because a guard kept it from running, counts as done. When one failed, or was skipped because of a failure, this resource is skipped, and the report names the failure that caused the skip.

Without require, resources run in the order of the file, and a failure does not stop the resources after it.`,
		Example: "exec#unpack"},
	{Name: "subscribe", Kind: Refs, Meaning: "like require, and refresh this resource when one of them changes",
		More: `A refresh runs the command even when creates or a guard would have kept it from running. With on_refresh: check they decide. The command runs once, however many publishers change.

A refresh is owed, and recorded in the journal, from the moment when the publisher begins. It therefore survives a failed run, Ctrl-C and a crash. The next run delivers it even when the publisher is stable then. settle owed lists owed refreshes.`,
		Example: "[exec#unpack, exec#configure]"},
	{Name: "before", Kind: Refs, Meaning: "run before these resources: require, declared at the other end",
		More:    `Use it when the other resource should not refer to this one.`,
		Example: "exec#start"},
	{Name: "notify", Kind: Refs, Meaning: "refresh these resources after a change: subscribe, declared at the other end",
		More:    `Use it when the other resource should not refer to this one. See subscribe for the effect of a refresh.`,
		Example: "exec#reload"},
	{Name: "on_refresh", Kind: Choice, Choices: []string{"run", "check"}, Default: "run", Meaning: "run: a refresh runs the resource regardless of creates and guards; check: creates and guards decide after a refresh too",
		More:    `It has an effect only on a resource that subscribes to another one or is notified. With check, a creates or guard that decides against running also settles the refresh: it is no longer owed.`,
		Example: "check"},
	{Name: "timeout", Kind: Duration, Default: "0", Meaning: "limit for each attempt, from the start of its process; 0 is no limit",
		More: `A number with a unit (ms, s, m, h, d for 24 hours, or w), or several of them, such as 1h30m. At the limit the whole process group gets TERM and, ten seconds later, KILL. The resource has then failed, regardless of its exit code.

Guards have the same limit, or five minutes without one.`,
		Example: "5m"},
	{Name: "tries", Kind: Count, Default: "1", Meaning: "number of attempts before the resource counts as failed",
		More:    `Every failure is tried again, except when the process could not start. creates and guards are not read again between attempts.`,
		Example: "3"},
	{Name: "try_sleep", Kind: Duration, Default: "1s", Meaning: "pause between attempts", Example: "10s"},
	{Name: "sensitive", Kind: Bool, Default: "false", Meaning: "show *** for its command, guards, stdin, environment and output everywhere; needs command",
		More:    `References and reports use the name, so it stays visible and command has to be given separately. When only one value is secret, list it under secrets at the top of the manifest: settle then redacts that value and shows the rest.`,
		Example: "true"},
	{Name: "ignore_failure", Kind: Bool, Default: "false", Meaning: "a failure is reported and ignored: dependents run, subscribers are not refreshed",
		More:    `The report shows the resource as failed and ignored, and the run can still end with exit code 0. Refreshes that are owed to the resource stay owed.`,
		Example: "true"},
}
