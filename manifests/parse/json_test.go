package parse

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// FuzzFromJSON checks that converted JSON means the same as YAML.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a": "\ud83d\ude00"}`, `{"a": "x\/y", "b": ["\\/", "\\\/"]}`, "{\"a\": \"\x7f\u0085\u2028\ufeff\"}", `{"a": "\ud83d x \ude00"}`, `{"\u00e9": "\"\b\f\n\r\t"}`,
		"{\n\t\"a\": \"b\"\n}\n", `{"a": "\u0041\uFFFF"}`, "a: \"\\/\"", `{"a`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		made := FromJSON([]byte(text))
		var want map[string]*string
		if err := json.Unmarshal([]byte(text), &want); err != nil || want == nil || !utf8.ValidString(text) {
			return // not one of texts
		}
		var tree yaml.Node
		if err := yaml.Unmarshal(made, &tree); err != nil {
			t.Fatalf("%q becomes %q: %v", text, made, err)
		}
		got := map[string]string{}
		for i, m := 0, tree.Content[0]; i < len(m.Content); i += 2 {
			got[m.Content[i].Value] = m.Content[i+1].Value
		}
		if len(got) != len(want) {
			t.Fatalf("%q is %q", text, got)
		}
		for key, value := range want {
			if value != nil && got[key] != *value {
				t.Errorf("%q in %q is %q, want %q", key, text, got[key], *value)
			}
		}
	})
}
