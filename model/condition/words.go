package condition

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// unreadable refuses what a condition is often mistaken for, before the library
// does it in its own words.
func unreadable(text string) *Error {
	at := func(mark, message, suggestion string) *Error {
		line, column := place(text, utf8.RuneCountInString(text[:max(0, strings.Index(text, mark))]))
		return &Error{line, column, message, suggestion, nil}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return at("", "the condition is empty", "leave it out where it is always true")
	case len(text) > maxText:
		return at("", fmt.Sprintf("a condition of more than %d bytes", maxText), "set a variable, and name that")
	case strings.Contains(text, "${"):
		return at("${", "a condition names values without ${}", `write var.NAME == "x"`)
	case strings.Contains(text, "{{"):
		return at("{{", "a condition names values without {{}}", `write var.NAME == "x"`)
	}
	return nil
}

// said is what the library says, and what a person reads instead. The words of
// $1 and $2 are types where types is set.
var said = sync.OnceValue(func() []phrase {
	return []phrase{
		{`^unexpected token EOF$`, `the condition ends too early`, "", false},
		{`^unexpected token Operator\("="\)$`, `"=" sets nothing here`, "write == to compare", false},
		{`^unexpected token \w+\((".*")\)$`, `$1 fits nothing before it`, "put and, or, or an operator between two values; a command that decides goes under onlyif", false},
		{`^literal not terminated$`, "a quote that is not closed", "", false},
		{`^unrecognized character: .*'(.*)'$`, `"$1" means nothing in a condition`, "quote texts", false},
		{`^expected bool, but got (.*)$`, `want true or false, got $1`, `compare it: var.NAME == "x"`, true},
		{`^invalid operation: bool\((.*)\)$`, `want true or false, got $1`, `compare it: var.NAME == "x"`, true},
		{`^invalid operation: (\S+) \(mismatched type (.*)\)$`, `"$1" wants true or false, not $2`, `compare it: var.NAME == "x"`, true},
		{`^invalid operation: (\S+) \(mismatched types (.*) and (.*)\)$`, `"$1" does not go with $2 and $3`, "int(…) makes a number of a text, string(…) a text of a number", true},
		{`^invalid operation: (int|float)\((.*)\)$`, `"$2" is no number`, "", false},
		{`^invalid operation: (\S+) (<|>|<=|>=|\+|-|\*|/|%|==|!=) (\S+)$`, `"$2" does not go with $1 and $3`, "", true},
		{`^type (.*) has no field (.*)$`, `$1 has no key "$2"`, "", true},
		{`^builtin (\w+) takes only array \(got (.*)\)$`, `$1 wants a list, not $2`, "", true},
		{`^cannot use (.*) as argument \(type (.*)\) to call (\w+) $`, `$3 wants $2, not $1`, "", true},
		{`^invalid argument for (\w+) \(type (.*)\)$`, `$1 does not go with $2`, "", true},
		{`^predicate should return boolean \(got (.*)\)$`, `want true or false for each item, got $1`, "", true},
		{`^index out of range: (\S+) .*$`, `the list has no item $1`, "items count from 0", false},
		{`^error parsing regexp: (.*)$`, `no regular expression: $1`, "", false},
		{`^memory budget exceeded$`, `the condition makes more than it may`, "", false},
		{`^cannot fetch (.*) from .*$`, `$1 of nothing`, "", false},
	}
})

// phrase is one thing that the library says.
type phrase struct {
	pattern, message, suggestion string
	types                        bool
}

// inWords makes an error of the library one of ours.
func inWords(text string, err error) *Error {
	line, column, message := located(text, err)
	message, _, _ = strings.Cut(message, "\n")
	for _, p := range said() {
		m := regexp.MustCompile(p.pattern).FindStringSubmatch(message)
		if m == nil {
			continue
		}
		message = p.message
		for i, part := range m[1:] {
			if p.types {
				part = inPlain(part)
			}
			message = strings.ReplaceAll(message, fmt.Sprintf("$%d", i+1), part)
		}
		return &Error{line, column, message, p.suggestion, nil}
	}
	return &Error{Line: line, Column: column, Message: "no condition: " + message}
}

// inPlain names a type of Go for people; other words stay.
func inPlain(typ string) string {
	switch {
	case typ == "string":
		return "a text"
	case typ == "int":
		return "an integer"
	case typ == "bool":
		return "true or false"
	case strings.HasPrefix(typ, "float"):
		return "a number"
	case strings.HasPrefix(typ, "[]"), typ == "array":
		return "a list"
	case strings.HasPrefix(typ, "map["):
		return "a map"
	case typ == "unknown", typ == "nil", typ == "interface {}", typ == "<nil>":
		return "nothing"
	}
	return typ
}
