package value

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Type is the declared type of a value.
type Type string

// The types of values.
const (
	String Type = "string"
	Int    Type = "int"
	Bool   Type = "bool"
	List   Type = "list"
	Table  Type = "map"
)

// Types are the names of the types, in the order of messages.
var Types = []string{string(String), string(Int), string(Bool), string(List), string(Table)}

// String describes a value of the type in words.
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

// TypeOf returns the type of a value.
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

// Describe describes a value in words, for the got part of a message.
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

// Convert returns a value as one of type t. A scalar converts to a text; every other
// difference of types is an error.
func Convert(v any, t Type) (any, error) {
	if TypeOf(v) == t {
		return v, nil
	}
	if text, ok := Text(v); ok && t == String {
		return text, nil
	}
	return nil, fmt.Errorf("want %s, got %s", t, Describe(v))
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// ParsePlain returns the value of a word without quotes: a bool for true and false,
// an int for a decimal number, else a text.
func ParsePlain(word string) any {
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

// ParseAs parses a text of a command line or of the environment as a value of type
// t. The items of a list are separated by commas.
func ParseAs(text string, t Type) (any, error) {
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
	if v := ParsePlain(text); TypeOf(v) == t {
		return v, nil
	}
	return nil, fmt.Errorf("want %s, got %q", t, text)
}
