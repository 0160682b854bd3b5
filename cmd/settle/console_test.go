package main

import (
	"strings"
	"testing"
)

func TestWanted(t *testing.T) {
	for line, want := range map[string]bool{
		"apply -o json m.yaml --nope": true,
		"apply -ojson --nope":         true,
		"apply --output=json --nope":  true,
		"apply --output json --nope":  true,
		"apply -o=json --nope":        true,
		"apply -o text --nope":        false,
		"apply --nope -- -o json":     false,
		"apply -o":                    false,
		"apply json --nope":           false,
		"apply --output jsonl --nope": false,
	} {
		if got := wantsOutput(strings.Fields(line), "json"); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
