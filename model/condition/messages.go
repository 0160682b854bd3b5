package condition

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// checkText refuses common mistakes for which the error of the library would not
// help.
func checkText(text string) *Error {
	at := func(mark, message, suggestion string) *Error {
		line, column := placeOf(text, utf8.RuneCountInString(text[:max(0, strings.Index(text, mark))]))
		return &Error{line, column, message, suggestion, nil}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return at("", "the condition is empty", "leave out a condition that is always true")
	case len(text) > maxText:
		return at("", fmt.Sprintf("the condition has more than %d bytes", maxText), "compute the value outside and set a variable")
	case strings.Contains(text, "${"):
		return at("${", "a condition names values without ${}", `write var.NAME == "x"`)
	case strings.Contains(text, "{{"):
		return at("{{", "a condition names values without {{}}", `write var.NAME == "x"`)
	}
	return nil
}

// rewordings are the messages of the library with our messages for them. $1 and $2
// are parts of the library's message; they are names of types when types is set.
var rewordings = sync.OnceValue(func() []rewording {
	return []rewording{
		{`^unexpected token EOF$`, `the condition ends too early`, "", false},
		{`^unexpected token Operator\("="\)$`, `"=" does not compare`, "write ==", false},
		{`^unexpected token \w+\((".*")\)$`, `unexpected $1`, "put and, or, or an operator between two values; use onlyif for a command that decides", false},
		{`^literal not terminated$`, "a quote is not closed", "", false},
		{`^unrecognized character: .*'(.*)'$`, `"$1" is not allowed in a condition`, "quote texts", false},
		{`^expected bool, but got (.*)$`, `want true or false, got $1`, `compare it: var.NAME == "x"`, true},
		{`^invalid operation: bool\((.*)\)$`, `want true or false, got $1`, `compare it: var.NAME == "x"`, true},
		{`^invalid operation: (\S+) \(mismatched type (.*)\)$`, `"$1" wants true or false, not $2`, `compare it: var.NAME == "x"`, true},
		{`^invalid operation: (\S+) \(mismatched types (.*) and (.*)\)$`, `"$1" does not go with $2 and $3`, "int(…) turns a text into a number, string(…) a number into a text", true},
		{`^invalid operation: (int|float)\((.*)\)$`, `"$2" is not a number`, "", false},
		{`^invalid operation: (\S+) (<|>|<=|>=|\+|-|\*|/|%|==|!=) (\S+)$`, `"$2" does not go with $1 and $3`, "", true},
		{`^type (.*) has no field (.*)$`, `$1 has no key "$2"`, "", true},
		{`^builtin (\w+) takes only array \(got (.*)\)$`, `$1 wants a list, not $2`, "", true},
		{`^cannot use (.*) as argument \(type (.*)\) to call (\w+) $`, `$3 wants $2, not $1`, "", true},
		{`^invalid argument for (\w+) \(type (.*)\)$`, `$1 does not go with $2`, "", true},
		{`^predicate should return boolean \(got (.*)\)$`, `want true or false for each item, got $1`, "", true},
		{`^index out of range: (\S+) .*$`, `the list has no item $1`, "items count from 0", false},
		{`^error parsing regexp: (.*)$`, `invalid regular expression: $1`, "", false},
		{`^memory budget exceeded$`, `the condition needs too much memory`, "", false},
		{`^cannot fetch (.*) from .*$`, `cannot read $1 of an empty value`, "", false},
	}
})

// rewording replaces one message of the library.
type rewording struct {
	pattern, message, suggestion string
	types                        bool
}

// rewordError turns an error of the library into an *Error with a plain message.
func rewordError(text string, err error) *Error {
	line, column, message := locateError(text, err)
	message, _, _ = strings.Cut(message, "\n")
	for _, p := range rewordings() {
		m := regexp.MustCompile(p.pattern).FindStringSubmatch(message)
		if m == nil {
			continue
		}
		message = p.message
		for i, part := range m[1:] {
			if p.types {
				part = describeType(part)
			}
			message = strings.ReplaceAll(message, fmt.Sprintf("$%d", i+1), part)
		}
		return &Error{line, column, message, p.suggestion, nil}
	}
	return &Error{Line: line, Column: column, Message: "invalid condition: " + message}
}

// describeType describes a Go type in words. It returns other words unchanged.
func describeType(typ string) string {
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
