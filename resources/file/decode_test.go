//go:build unix

package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

func TestDecodeReportsEveryProblem(t *testing.T) {
	for properties, want := range map[string][]string{
		`{mode: "0644", owner: root, group: "0", content: ""}`: nil,
		`{mode: "644"}`:                             nil,
		`{ensure: link, target: x}`:                 nil,
		`{ensure: absent, force: true}`:             nil,
		`{source: x, recurse: true}`:                nil,
		`{validate: "visudo -cf %"}`:                nil,
		`{validate: [check, "--file=%"]}`:           nil,
		`{provider: posix}`:                         nil,
		`{mode: 0644}`:                              {`mode: mode 0644 is a number to YAML; quote it: "0644"`},
		`{mode: 644}`:                               {`mode: mode 644 is a number to YAML; quote it: "0644"`},
		`{mode: "u=rw,g=r,o="}`:                     {`mode: symbolic mode "u=rw,g=r,o="; write "0640"`},
		`{mode: "a=rx"}`:                            {`mode: symbolic mode "a=rx"; write "0555"`},
		`{mode: "rwxr-x---"}`:                       {`mode: symbolic mode "rwxr-x---"; write "0750"`},
		`{mode: +x}`:                                {`mode: symbolic mode "+x"; write the whole mode in octal, as "0644", or "0755" for what may be executed`},
		`{mode: "u=rw"}`:                            {`mode: symbolic mode "u=rw"; write the whole mode in octal, as "0644", or "0755" for what may be executed`},
		`{mode: "0888"}`:                            {`mode: "0888" is not a mode; write three or four octal digits in quotes, as "0644"`},
		`{mode: "0o644"}`:                           {`mode: "0o644" is not a mode; write three or four octal digits in quotes, as "0644"`},
		`{mode: "44"}`:                              {`mode: "44" is not a mode; write three or four octal digits in quotes, as "0644"`},
		`{path: ~/x}`:                               {`path: ~ is not expanded here; write the home directory out`},
		`{path: /}`:                                 {`path: / is not for a resource to change`},
		`{source: https://example.com/x}`:           {`source: settle fetches nothing; name a file, and fetch it with an exec that the file requires`},
		`{content: a, source: b}`:                   {`source: source is given beside content; drop one of them`},
		`{ensure: link}`:                            {`target: a link needs a target`},
		`{target: x}`:                               {`target: target is for links; set ensure: link`},
		`{ensure: absent, content: x}`:              {`content: content means nothing with ensure: absent`},
		`{ensure: directory, validate: x%}`:         {`validate: validate means nothing with ensure: directory`},
		`{ensure: directory, source: x}`:            {`source: a directory is copied only as a whole; set recurse: true`},
		`{recurse: true}`:                           {`recurse: recurse copies a directory, and none is given; set source`},
		`{source: /, recurse: true}`:                {`source: the copy would be part of what it copies`},
		`{source: x, recurse: true, validate: x %}`: {`validate: validate is for one file, and recurse for many`},
		`{validate: "true"}`:                        {`validate: nothing in it names the new file; write % where the file's path belongs`},
		`{validate: "test % | cat"}`:                {`validate: "|" would be an argument: no shell reads this command; use provider: shell, or quote it`},
		`{validate: "date +%%F"}`:                   {`validate: nothing in it names the new file; write % where the file's path belongs`},
		`{validate: []}`:                            {`validate: command is empty`},
	} {
		_, problems := load("/dir", "- file:\n    - /etc/motd: "+properties+"\n")
		var got []string
		for _, p := range problems {
			p.Pos = model.Pos{}
			got = append(got, strings.TrimPrefix(p.String(), "file#/etc/motd: "))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", properties, diff)
		}
	}
}

func TestNameHasToBeAnAbsolutePath(t *testing.T) {
	_, problems := load("/dir", "- file:\n    - motd: {content: x}\n    - issue: {path: etc/issue}\n")
	want := `m.yaml:2:7: file#motd: the name "motd" is not an absolute path; set path, which may be relative to the manifest's directory`
	if got := problems.Error(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestTwoResourcesMayNotDeclareOnePath(t *testing.T) {
	_, problems := load("/dir", "- file:\n    - /dir/etc/motd: {content: x}\n    - motd: {path: etc/../etc/motd}\n")
	want := `m.yaml:3:20: file#motd: path: /dir/etc/motd is already declared by file#/dir/etc/motd at m.yaml:2; declare all of it in one place`
	if got := problems.Error(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// What defaults give is for the files that it fits, and means nothing to others.
func TestDefaultsApplyOnlyWhereTheyFit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gone"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const yaml = `
defaults: {file: {mode: "0750", content: x, validate: test -s %, backup: true, target: file, replace: true}}
resources:
  - file:
      - f: {path: file}
      - d: {path: dir, ensure: directory}
      - gone: {path: gone, ensure: absent}
      - l: {path: link, ensure: link}
`
	for _, want := range []model.Status{model.Changed, model.Stable} {
		for _, o := range walk(t, dir, yaml, engine.Apply) {
			if o.Status != want {
				t.Errorf("%s; want %s", shown(&o, dir), want)
			}
		}
	}
	for name, want := range map[string]string{"file": "0750 x", "dir": "0750/", "gone": "", "link": "→ file"} {
		if got := standing(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
}
