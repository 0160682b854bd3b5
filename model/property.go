package model

// Property is one property of a resource type, or one key of the manifest. It
// is the single source for the decoder, the schema, explain, the README's
// tables and completion.
type Property struct {
	Name    string
	Kind    Kind
	Choices []string // for Choice
	Default string   // as a person would write it, "" when absent means nothing
	Meaning string   // one sentence
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
	Whatever                 // any YAML: the type looks for itself
)

var kindWords = [...]string{
	Text: "a text", Line: "one line of text", Bool: "true or false", Int: "an integer", Count: "an integer of at least 1",
	Duration: "a duration such as 90s, 5m or 1d", Choice: "one of a few words", Lines: "a line of text or a list of them",
	PathList: "directories: one text with colons or a list", CommandLine: "a command or the list of its words",
	CommandLines: "a command or a list of commands", Codes: "a list of exit codes", CodesOrTrue: "true or a list of exit codes",
	Environment: "a list of KEY=VALUE or a map", Refs: "a reference (type#name) or a list of them",
	TextMap: "a map of texts", Whatever: "any value",
}

// String says in words what a value of the kind looks like.
func (k Kind) String() string { return kindWords[k] }

// Common lists the properties of every type, in the order of the reference.
var Common = []Property{
	{Name: "name", Kind: Line, Meaning: "what the resource is called: unique within its type and used in references", Example: "reload"},
	{Name: "alias", Kind: Line, Meaning: "a second name for references; equal to a former name it carries that name's debts over a rename", Example: "reload-httpd"},
	{Name: "description", Kind: Text, Meaning: "shown by plan, list and reports", Example: "restart the web server"},
	{Name: "tags", Kind: Lines, Meaning: "what --tags and --skip-tags select by", Example: "[web, deploy]"},
	{Name: "require", Kind: Refs, Meaning: "run after these resources, and not at all when one of them failed", Example: "exec#unpack"},
	{Name: "subscribe", Kind: Refs, Meaning: "as require, and be refreshed when one of them changes", Example: "[exec#unpack, exec#configure]"},
	{Name: "before", Kind: Refs, Meaning: "the edge of require, written from the other end", Example: "exec#start"},
	{Name: "notify", Kind: Refs, Meaning: "the edge of subscribe, written from the other end", Example: "exec#reload"},
	{Name: "on_refresh", Kind: Choice, Choices: []string{"run", "check"}, Default: "run", Meaning: "run: a refresh runs it whatever creates and guards say; check: a refresh only makes it due, creates and guards decide", Example: "check"},
	{Name: "timeout", Kind: Duration, Default: "0", Meaning: "limit for each attempt, from the start of its process; 0 is no limit", Example: "5m"},
	{Name: "tries", Kind: Count, Default: "1", Meaning: "how many attempts before it counts as failed", Example: "3"},
	{Name: "try_sleep", Kind: Duration, Default: "1s", Meaning: "pause between attempts", Example: "10s"},
	{Name: "sensitive", Kind: Bool, Default: "false", Meaning: "show *** for its command, guards, stdin, environment and output everywhere; needs command", Example: "true"},
	{Name: "ignore_failure", Kind: Bool, Default: "false", Meaning: "a failure is reported and ignored: dependents run, nobody is refreshed", Example: "true"},
}
