package manifests_test

import (
	"strings"
	"testing"
)

// What users of other tools reported, as a manifest each. The ids are those of
// the cases handed to us; want holds a part of each line that must be said, in
// order and with nothing else, none where the manifest must load.
func TestReportedCases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, text string
		want     []string
	}{
		{"SC-016 loops are told edge by edge", "- exec:\n    - a: {command: /bin/true, require: [exec#b]}\n    - b: {command: /bin/true, subscribe: [exec#c]}\n    - c: {command: /bin/true, require: [exec#a]}\n    - s: {command: /bin/true, require: [exec#s]}\n",
			[]string{"m.yaml:2:41: exec#a: require: ", "  m.yaml:2: exec#a requires exec#b", "  m.yaml:3: exec#b subscribes to exec#c", "  m.yaml:4: exec#c requires exec#a", "m.yaml:5:41: exec#s: require: exec#s requires itself"}},
		{"SC-018 one name twice", "resources:\n  - exec:\n      - reload: {command: /bin/true}\n  - exec:\n      - reload: {command: /bin/false}\n",
			[]string{"m.yaml:5:9: exec#reload: already defined at m.yaml:3"}},
		{"SC-067 exit codes have eight bits", "- exec:\n    - a: {command: x, returns: [256]}\n    - b: {command: x, returns: [-1]}\n    - c: {command: x, returns: [2.0]}\n    - d: {command: x, returns: [\"2\"]}\n    - e: {command: x, returns: []}\n",
			[]string{"m.yaml:2:", "m.yaml:3:", "m.yaml:4:", "m.yaml:5:", "m.yaml:6:"}},
		{"SC-070 operators without a shell", "- exec: [{x: {command: \"echo a && touch m > o\"}}]\n", []string{`m.yaml:1:24: exec#x: command: "&&" `}},
		{"SC-070 quoted operators", "- exec: [{x: {command: \"echo a '&&' b\"}}]\n", nil},
		{"SC-079 relative directories in path", "- exec: [{z: {command: x, path: ['.']}}]\n", []string{`m.yaml:1:34: exec#z: path: "." is not an absolute`}},
		{"SC-082 null and lists in environment", "- exec:\n    - x:\n        command: x\n        environment: {A: yes, B: 0755,\n          G: ~,\n          H: [x]}\n", []string{"m.yaml:5:11: exec#x: environment: G has no value", "m.yaml:6:14: exec#x: environment: want a text for H, got a list"}},
		{"SC-085 one variable twice", "- exec: [{y: {command: x, environment: [A=1, A=2]}}]\n", []string{"m.yaml:1:46: exec#y: environment: A is already set at line 1"}},
		{"SC-106 several lines without a shell", "- exec:\n    - x:\n        command: |\n          touch a\n          touch b\n", []string{"m.yaml:3:18: exec#x: command: several lines need a shell; use provider: shell"}},
		{"SC-108 empty commands", "- exec:\n    - a: {command: \"\"}\n    - b: {command: \"   \"}\n    - c: {command: \"''\"}\n    - d: {command: null}\n    - '': {}\n",
			[]string{"m.yaml:2:20: exec#a: command: command is empty", "m.yaml:3:20: exec#b: command: command is empty", "m.yaml:4:20: exec#c: command: command is empty", "m.yaml:5:20: exec#d: command: null is not allowed here", "m.yaml:6:7: name: the name is empty"}},
		{"SC-109 one key twice", "resources: []" + strings.Repeat("\n# far", 200) + "\nresources:\n  - exec:\n      - x: {command: a, command: b}\n", []string{`m.yaml:202:1: key "resources" is already defined at line 1`, `m.yaml:204:25: key "command" is already defined at line 204`}},
		{"SC-111 words that YAML types", "- exec:\n    - on: {command: x}\n    - null: {command: x}\n    - ~: {command: x}\n    - 1.10: {command: x}\n    - x: {command: x, subscribe: [exec#on, exec#null, exec#~, exec#1.10]}\n", nil},
		{"SC-111 booleans", "- exec: [{x: {command: x, refreshonly: \"yes\", provider: no}}]\n", []string{"m.yaml:1:40: exec#x: refreshonly: want true or false", `m.yaml:1:57: exec#x: provider: unknown provider "no"`}},
		{"SC-114 a tab", "resources:\n\t- exec:\n", []string{"m.yaml:2:1: a tab in the indentation; use spaces"}},
		{"SC-117 two documents", "resources: []\n---\nresources: []\n", []string{"m.yaml:2:1: a second YAML document: only one is allowed"}},
		{"SC-117 empty documents", "---\nresources: []\n...\n---\n", nil},
		{"SC-119 a loop of aliases", "resources: &a [*a]\n", []string{"m.yaml:1:16: the alias *a stands inside"}},
		{"SC-120 malformed bytes", "0: [:!00 \xef", []string{"m.yaml:1:10: a byte that is not UTF-8"}},
		{"SC-120 20,000 brackets", strings.Repeat("[", 20_000), []string{"m.yaml:1:1: nested deeper than 100 levels"}},
		{"SC-122 typos at every level", "resource: []\nresources:\n- exec: [{x: {command: /bin/true, refresh_only: true, Creates: /x, subscribes: [exec#y]}}]\n- exce: []\n",
			[]string{`"resource"; did you mean "resources"?`, `did you mean "refreshonly"?`, `did you mean "creates"?`, `did you mean "subscribe"?`, `did you mean "exec"?`}},
		{"SC-123 all at once", "- exec:\n    - a: {command: x, returns: 1}\n    - b: {command: x, cwdd: /}\n    - c: {command: x, require: exec#zzzz}\n    - d: {command: \"it's\"}\n    - e: {command: x, timeout: soon}\n    - a: {command: x}\n",
			[]string{"m.yaml:2:32: exec#a: returns: ", "m.yaml:3:23: exec#b: cwdd: ", "m.yaml:4:32: exec#c: require: ", "m.yaml:5:20: exec#d: command: ", "m.yaml:6:32: exec#e: timeout: ", "m.yaml:7:7: exec#a: already "}},
		{"SC-124 colon and space", "resources:\n  - exec:\n      - x:\n          command: echo \"Host: x\" | cat\n", []string{`m.yaml:4:30: ": " in a value that is not quoted; a value with ": " must be quoted as a whole`}},
		{"SC-125 a comma in a reference", "- exec:\n    - echo a, b:\n    - x: {command: x, subscribe: [exec#echo a, b]}\n", []string{`no resource exec#echo a; did you mean "exec#echo a, b"? quote it`, `"b" is not a reference`}},
		{"SC-125 a bracket in a reference", "- exec:\n    - x: {command: x}\n    - y:\n        subscribe: [exec#test [ -f x ]]\n        command: x\n", []string{"m.yaml:4:20: the list or map that begins here"}},
		{"SC-127 a newline within a path", "- exec:\n    - x:\n        command: x\n        cwd: |\n          /tmp\n          /var\n", []string{"m.yaml:4:14: exec#x: cwd: want one line of text, got several"}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			m, problems := load("m.yaml", tt.text)
			if m != nil {
				if tt.want != nil {
					t.Fatal("it loads")
				}
				return
			}
			lines := strings.Split(problems.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), len(tt.want), problems.Error())
			}
			for i, line := range lines {
				if !strings.Contains(line, tt.want[i]) {
					t.Errorf("%s\nhas not in it: %s", line, tt.want[i])
				}
			}
		})
	}
}
