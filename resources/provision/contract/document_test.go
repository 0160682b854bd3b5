package contract

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRead(t *testing.T) {
	tests := []struct{ name, in, err string }{
		{"an object", `{"a": [1, -2.5e+3, "x", true, false, null, {}]}`, ""},
		{"white space around it", " \r\n\t{} \n", ""},
		{"null is the empty object", "null\n", ""},
		{"an array", "[]\n", `the reply is not an object but an array: "[]\n"`},
		{"a string", `"x"`, `the reply is not an object but a string: "\"x\""`},
		{"a number", `12`, "the reply is not an object but a number: \"12\""},
		{"true", `true`, "the reply is not an object but a boolean: \"true\""},
		{"a log line before", "Loading CA...\n{}", `the reply is not exactly one JSON object: it begins with "Loading CA...\n{}"; standard output is for the reply alone, a log belongs on standard error`},
		{"a byte order mark", "\ufeff{}", `the reply is not exactly one JSON object: it begins with "\ufeff{}"; standard output is for the reply alone, a log belongs on standard error`},
		{"only white space", " \n ", `the reply is not exactly one JSON object: it begins with " \n "; standard output is for the reply alone, a log belongs on standard error`},
		{"something after", `{"a":1} garbage`, `the reply does not end with its JSON object: after byte 7 comes "garbage"`},
		{"two objects", `{"a":1}{"b":2}`, `the reply is more than one JSON object: another value begins at byte 7: "{\"b\":2}"`},
		{"truncated in a key", `{"a`, "the reply ends in the middle of the JSON object, after 3 bytes, in $"},
		{"truncated in a string", `{"a": "x\`, "the reply ends in the middle of the JSON object, after 9 bytes, in $.a"},
		{"truncated in an escape", `{"a": "x\u00`, "the reply ends in the middle of the JSON object, after 12 bytes, in $.a"},
		{"truncated in a word", `{"a": tr`, "the reply ends in the middle of the JSON object, after 8 bytes, in $.a"},
		{"truncated in a number", `{"a": -`, "the reply ends in the middle of the JSON object, after 7 bytes, in $.a"},
		{"truncated after a comma", `{"a": 1,`, "the reply ends in the middle of the JSON object, after 8 bytes, in $"},
		{"truncated in an array", `{"a": [1`, "the reply ends in the middle of the JSON object, after 8 bytes, in $.a"},
		{"a comma too many", `{"a": 1,}`, `the reply is not JSON: $: expected a key in double quotes at byte 8, got "}"`},
		{"a comma too few", `{"a": 1 "b": 2}`, `the reply is not JSON: $: expected a comma or a closing brace at byte 8, got "\"b\": 2}"`},
		{"single quotes", `{'a': 1}`, `the reply is not JSON: $: expected a key in double quotes at byte 1, got "'a': 1}"`},
		{"Python's repr", `{"a": True}`, `the reply is not JSON: $.a: expected a value at byte 6, got "True}"`},
		{"a leading zero", `{"a": 012}`, `the reply is not JSON: $.a: expected a number at byte 6, got "012}"`},
		{"a raw line break", "{\"a\": \"x\ny\"}", `the reply is not JSON: $.a: expected a control character to be escaped at byte 8, got "\ny\"}"`},
		{"an unknown escape", `{"a": "\x41"}`, `the reply is not JSON: $.a: expected an escape sequence at byte 7, got "\\x41\"}"`},
		{"half a surrogate pair", `{"a": "\ud834x"}`, `the reply is not JSON: $.a: expected both halves of a surrogate pair at byte 7, got "\\ud834x\"}"`},
		{"bytes that are not UTF-8", "{\"a\": \"\xe9\"}", "the reply is not UTF-8: byte 7 is 0xe9"},
		{"too deep", strings.Repeat(`{"a":`, 200), "the reply is nested more than 100 deep"},
		{"too many values", `{"a": [` + strings.Repeat("0,", maxValues) + "0]}", "the reply holds more than 1048576 values"},
		{"a long beginning is cut", strings.Repeat("x", 100), `the reply is not exactly one JSON object: it begins with "` + strings.Repeat("x", 40) + `"…; standard output is for the reply alone, a log belongs on standard error`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, twice, err := read([]byte(tt.in), nil)
			if len(twice) > 0 {
				t.Errorf("keys given twice: %v", twice)
			}
			if got := errorText(err); got != tt.err {
				t.Errorf("error:\n got %s\nwant %s", got, tt.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestReadText(t *testing.T) {
	n, _, err := read([]byte(`{"s": "ò 𝄞 <&> \u2028 \u0000 \ud834\udd1e \"\\\/\b\f\n\r\t"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "ò 𝄞 <&> \u2028 \x00 𝄞 \"\\/\b\f\n\r\t"
	if got := n.fields[0].text; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzRead holds the reader to encoding/json: what it takes, that takes as well
// and reads the same; what that refuses it refuses.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9",true,null]}`, `{"a":{"b":"\ud834\udd1e"}} `, `null`, `[]`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `{"a":-0.0E-1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, twice, err := read(data, nil)
		var want any
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.UseNumber()
		theirs := d.Decode(&want)
		if err != nil {
			_, isObject := want.(map[string]any)
			lenient := strings.Contains(err.Error(), "surrogate") || strings.Contains(err.Error(), "nested") ||
				strings.Contains(err.Error(), "more than one") || strings.Contains(err.Error(), "does not end")
			if theirs == nil && isObject && utf8.Valid(data) && !lenient {
				t.Fatalf("refused what encoding/json takes: %v", err)
			}
			return
		}
		if theirs != nil {
			t.Fatalf("took what encoding/json refuses: %v", theirs)
		}
		if len(twice) > 0 {
			return
		}
		got, _ := json.Marshal(plain(n))
		expected, _ := json.Marshal(want)
		if string(got) != string(expected) {
			t.Fatalf("read %s, encoding/json reads %s", got, expected)
		}
	})
}

// plain is a node as encoding/json would have it.
func plain(n node) any {
	switch n.shape {
	case object:
		m := map[string]any{}
		for _, f := range n.fields {
			m[f.key] = plain(f.node)
		}
		return m
	case array:
		list := make([]any, len(n.items))
		for i := range n.items {
			list[i] = plain(n.items[i])
		}
		return list
	case text:
		return n.text
	case number:
		return json.Number(n.text)
	case boolean:
		return n.truth
	}
	return nil
}
