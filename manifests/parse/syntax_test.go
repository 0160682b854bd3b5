package parse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
)

func TestKeyOverTheLimitOfYAMLIsNamed(t *testing.T) {
	long := "echo " + strings.Repeat("x", 1100)
	for _, tt := range []struct {
		name, text   string
		line, column int
	}{
		{"in a block", "exec:\n  - KEY: {}\n", 2, 3},
		{"in a map in brackets", "exec:\n  - {KEY: {}}\n", 2, 6},
		{"in a list in brackets", "exec: [short, KEY: {}]\n", 1, 15},
		{"in quotes", "exec:\n  - {short: {}, \"KEY\": {}}\n", 2, 17},
		{"in single quotes", "exec: [{'KEY': {}}]\n", 1, 9},
		{"in JSON", `{"exec":[{"a":{"command":"true"}},{"KEY":{"creates":"/x"}}]}`, 1, 36},
		{"in JSON over several lines", "{\n \"exec\": [\n  {\n   \"KEY\": {}\n  }\n ]\n}\n", 4, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sink := entry.NewSink("m.yaml")
			parse.Parse("m.yaml", []byte(strings.Replace(tt.text, "KEY", long, 1)), sink)
			p := sink.Problems()
			if len(p) != 1 || p[0].Line != tt.line || p[0].Column != tt.column || p[0].Message != "a name of more than 1,024 characters" {
				t.Errorf("%v, want one problem at %d:%d about the length of the name", p, tt.line, tt.column)
			}
		})
	}
}

// The limit of the wait is generous: an effort that grows with the square of the
// size takes minutes for each of these texts.
func TestLargeMalformedTextIsAnsweredSoon(t *testing.T) {
	const size = 12 << 20
	for _, tt := range []struct{ name, start, repeated string }{
		{"an open quote in one line", `a: "`, "x"},
		{"an open quote over many lines", "a: '", "some words\n"},
		{"an open quote in JSON", `{"a": "`, "x"},
		{"colons", "", ":"},
		{"colons in a value", "a: ", ":"},
		{"an open map", "x-a: {", "a,"},
		{"an open list", "x-a: [", "*a,"},
		{"comments above a text", "a: b\n", "#\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(tt.start + strings.Repeat(tt.repeated, size/len(tt.repeated)) + "\nb\n")
			count := make(chan int, 1)
			go func() {
				sink := entry.NewSink("m.yaml")
				parse.Parse("m.yaml", text, sink)
				count <- sink.Count()
			}()
			select {
			case n := <-count:
				if n != 1 {
					t.Errorf("%d problems, want 1", n)
				}
			case <-time.After(time.Minute):
				t.Fatal("no answer after a minute")
			}
		})
	}
}
