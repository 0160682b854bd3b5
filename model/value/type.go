package value

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Type is what a value is declared to be.
type Type string

// The types of values.
const (
	String Type = "string"
	Int    Type = "int"
	Bool   Type = "bool"
	List   Type = "list"
	Table  Type = "map"
)

// Types are the names of the types, in the order in which people are told of them.
var Types = []string{string(String), string(Int), string(Bool), string(List), string(Table)}

// String says in words what a value of the type is.
func (t Type) String() string {
	switch t {
	case Int:
		return "an integer"
	case Bool:
		return "true or false"
	case List:
		return "a list"
	case Table:
		return "a map"
	}
	return "a text"
}

// TypeOf returns the type that a value has.
func TypeOf(v any) Type {
	switch v.(type) {
	case int:
		return Int
	case bool:
		return Bool
	case []any:
		return List
	case Map:
		return Table
	}
	return String
}

// Describe says in words what a value is, as messages say what they got.
func Describe(v any) string {
	switch v := v.(type) {
	case []any:
		return "a list"
	case Map:
		return "a map"
	case string:
		return "the text " + strconv.Quote(Short(v))
	}
	text, _ := Text(v) // an int or a bool
	return text
}

// As returns a value as one of a type: any scalar is a text too, and nothing
// else is anything that it is not.
func As(v any, t Type) (any, error) {
	if TypeOf(v) == t {
		return v, nil
	}
	if text, ok := Text(v); ok && t == String {
		return text, nil
	}
	return nil, fmt.Errorf("want %s, got %s", t, Describe(v))
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// Plain returns what a word means that is written without quotes: true and false
// are bools and decimal numbers ints; everything else is a text.
func Plain(word string) any {
	switch {
	case word == "true":
		return true
	case word == "false":
		return false
	case decimal.MatchString(word):
		if n, err := strconv.Atoi(word); err == nil {
			return n
		}
	}
	return word
}

// Read makes a value of a type of a text that came from outside: a command line
// or the environment. A list is its items with commas between them.
func Read(text string, t Type) (any, error) {
	switch t {
	case String:
		return text, nil
	case List:
		list := []any{}
		if text == "" {
			return list, nil
		}
		for item := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(item))
		}
		return list, nil
	case Table:
		return nil, fmt.Errorf("want %s, got %s", t, Describe(text))
	}
	if v := Plain(text); TypeOf(v) == t {
		return v, nil
	}
	return nil, fmt.Errorf("want %s, got %q", t, text)
}
