package exec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

// runner answers for processes: it notes what it was asked to run, and ends as told.
type runner struct {
	commands []model.Command
	ends     func(model.Command) (model.Exit, error)
}

func (r *runner) run(_ context.Context, c model.Command) (model.Exit, error) {
	r.commands = append(r.commands, c)
	return r.ends(c)
}

func exits(code int) func(model.Command) (model.Exit, error) {
	return func(model.Command) (model.Exit, error) { return model.Exit{Began: true, Code: code}, nil }
}

func text(s string) model.Value { return model.Value{Text: s} }

func list(items ...string) model.Value {
	v := model.Value{Shape: model.List}
	for _, item := range items {
		v.Items = append(v.Items, text(item))
	}
	return v
}

func ints(codes ...int) model.Value {
	v := model.Value{Shape: model.List}
	for _, code := range codes {
		v.Items = append(v.Items, model.Value{Int: code})
	}
	return v
}

func pairs(kv ...string) model.Value {
	v := model.Value{Shape: model.Map}
	for i := 0; i < len(kv); i += 2 {
		v.Pairs = append(v.Pairs, model.Pair{Key: kv[i], Value: text(kv[i+1])})
	}
	return v
}

// words stands for the posix provider: splits at blanks, refuses a pipe.
func words(line string, _ []model.Placeholder) ([]string, error) {
	if strings.Contains(line, "|") {
		return nil, errors.New("| is a shell operator")
	}
	return strings.Fields(line), nil
}

func options(r *runner, environ ...string) Options {
	none := func(string, []model.Placeholder) []model.Advice { return nil }
	return Options{
		Run:      r.run,
		LookPath: func(name, _ string, _ []string) (string, error) { return name, nil },
		Posix:    Provider{Argv: words, Warnings: none},
		Shell:    Provider{Argv: func(s string, _ []model.Placeholder) ([]string, error) { return []string{"/bin/sh", "-c", s}, nil }, Warnings: none},
		Fill:     func(_ []string, text string, _ []model.Placeholder) (string, error) { return text, nil },
		Join:     func(argv []string) string { return strings.Join(argv, " ") },
		Commands: NewCommands(Inherited{Environ: environ, RunID: "r1", Grace: time.Second}),
	}
}

// declare decodes a resource and demands that nothing is wrong with it.
func declare(t *testing.T, opts Options, values map[string]model.Value) model.Spec {
	t.Helper()
	b := body(t, values)
	spec := Type(opts).Decode(b)
	if len(b.Problems) > 0 {
		t.Fatal(b.Problems)
	}
	return spec
}

func body(t *testing.T, values map[string]model.Value) *model.Body {
	t.Helper()
	return &model.Body{Ref: model.Ref{Type: "exec", Name: "x"}, Named: text("x"), Base: model.Base{Dir: t.TempDir()}, Values: values}
}

// Other types build their commands with the same builder. A tag that two
// processes share would let settle take one for the other.
func TestCommandsOfAllTypesHaveTheirOwnProcessTag(t *testing.T) {
	r := &runner{ends: exits(0)}
	opts := options(r)
	if _, err := declare(t, opts, map[string]model.Value{"command": text("/bin/true")}).Run(t.Context(), model.Stage{}); err != nil {
		t.Fatal(err)
	}
	other := opts.Commands.New(model.Base{Dir: "/work"}, []string{"/bin/check"})
	if got := r.commands[0].ProcessTag + " " + other.ProcessTag; got != "r1/1 r1/0.2" {
		t.Errorf("tags: %s", got)
	}
	if !slices.Contains(other.Env, "SETTLE_RUN_ID=r1/0.2") || other.Dir != "/work" || other.Grace != time.Second {
		t.Errorf("command of another type: %+v", other)
	}
}

func TestEnvironmentOfACommand(t *testing.T) {
	outer := []string{"PATH=/outer/bin", "HOME=/home/me", "USER=me", "LOGNAME=me", "SHELL=/bin/bash", "CI_TOKEN=t", "SETTLE_RUN_ID=r0/9", "A=outer", "PWD=/else"}
	tests := []struct {
		name   string
		edit   func(*Inherited)
		values map[string]model.Value
		want   []string // beside those of every case
		path   string
	}{
		{name: "settle's own", want: []string{"A=outer", "CI_TOKEN=t", "PATH=/outer/bin", "SHELL=/bin/bash"}, path: "/outer/bin"},
		{name: "a value replaces one", values: map[string]model.Value{"environment": pairs("A", "in")}, want: []string{"A=in", "CI_TOKEN=t", "PATH=/outer/bin", "SHELL=/bin/bash"}, path: "/outer/bin"},
		{name: "PATH of environment finds programs too", values: map[string]model.Value{"environment": pairs("PATH", "/env/bin:rel:")}, want: []string{"A=outer", "CI_TOKEN=t", "PATH=/env/bin:rel:", "SHELL=/bin/bash"}, path: "/env/bin rel "},
		{name: "path wins over it", values: map[string]model.Value{"environment": pairs("PATH", "/env/bin"), "path": text("/a:/b")}, want: []string{"A=outer", "CI_TOKEN=t", "PATH=/a:/b", "SHELL=/bin/bash"}, path: "/a /b"},
		{name: "path as a list", values: map[string]model.Value{"path": list("/a", "/b")}, want: []string{"A=outer", "CI_TOKEN=t", "PATH=/a:/b", "SHELL=/bin/bash"}, path: "/a /b"},
		{name: "clean", edit: func(i *Inherited) { i.CleanEnv = true }, values: map[string]model.Value{"environment": pairs("B", "b")}, want: []string{"B=b", "LANG=C.UTF-8", "PATH=/outer/bin", "SHELL=/bin/bash"}, path: "/outer/bin"},
		{name: "nothing to start from", edit: func(i *Inherited) { i.Environ = []string{"HOME=/home/me", "USER=me", "SETTLE_RUN_ID=r0/9"} }, want: []string{"PATH=" + defaultPath}, path: strings.ReplaceAll(defaultPath, ":", " ")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{ends: exits(0)}
			opts := options(r)
			inherited := Inherited{Environ: outer, RunID: "r1", Grace: time.Second}
			if tt.edit != nil {
				tt.edit(&inherited)
			}
			opts.Commands = NewCommands(inherited)
			values := map[string]model.Value{"command": text("/bin/true"), "cwd": text("/work")}
			for k, v := range tt.values {
				values[k] = v
			}
			if _, err := declare(t, opts, values).Run(t.Context(), model.Stage{}); err != nil {
				t.Fatal(err)
			}
			want := append([]string{"HOME=/home/me", "LOGNAME=me", "PWD=/work", "SETTLE_RUN_ID=r0/9 r1/1", "USER=me"}, tt.want...)
			slices.Sort(want)
			if diff := cmp.Diff(want, r.commands[0].Env); diff != "" {
				t.Errorf("environment:\n%s", diff)
			}
			if got := strings.Join(r.commands[0].Path, " "); got != tt.path {
				t.Errorf("looked up in %q, want %q", got, tt.path)
			}
		})
	}
}

func TestExitCodeDecidesTheStatus(t *testing.T) {
	killed := func(model.Command) (model.Exit, error) { return model.Exit{Began: true, Signal: "SIGKILL"}, nil }
	timedOut := func(model.Command) (model.Exit, error) {
		return model.Exit{Began: true}, errors.New("timed out after 1s")
	}
	tests := []struct {
		name      string
		ends      func(model.Command) (model.Exit, error)
		values    map[string]model.Value
		err       string
		unchanged bool
	}{
		{name: "0", ends: exits(0)},
		{name: "3", ends: exits(3), err: "exit 3"},
		{name: "in returns", ends: exits(3), values: map[string]model.Value{"returns": ints(0, 3)}},
		{name: "0 not in returns", ends: exits(0), values: map[string]model.Value{"returns": ints(3)}, err: "exit 0"},
		{name: "a signal is no exit code", ends: killed, values: map[string]model.Value{"returns": ints(137)}, err: "killed by SIGKILL"},
		{name: "a timeout is never success", ends: timedOut, err: "timed out after 1s"},
		{name: "unchanged code", ends: exits(2), values: map[string]model.Value{"returns": ints(0, 2), "unchanged": ints(2)}, unchanged: true},
		{name: "changed code", ends: exits(0), values: map[string]model.Value{"returns": ints(0, 2), "unchanged": ints(2)}},
		{name: "unchanged true", ends: exits(2), values: map[string]model.Value{"returns": ints(0, 2), "unchanged": {Bool: true}}, unchanged: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values := map[string]model.Value{"command": text("/bin/x")}
			for k, v := range tt.values {
				values[k] = v
			}
			effect, err := declare(t, options(&runner{ends: tt.ends}), values).Run(t.Context(), model.Stage{})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.err || effect.Unchanged != tt.unchanged || !effect.Began {
				t.Errorf("error %q, %+v", got, effect)
			}
			if (effect.Exit == nil) != (effect.Signal != "" || strings.HasPrefix(got, "timed")) {
				t.Errorf("exit %v beside %q", effect.Exit, got)
			}
		})
	}
}

func TestGuardThatCannotAnswerIsAnError(t *testing.T) {
	tests := []struct {
		name     string
		provider string
		exit     model.Exit
		runErr   error
		err      string
	}{
		{name: "did not start", provider: "posix", runErr: errors.New("foo not found in /bin"), err: "unless: foo not found in /bin"},
		{name: "killed", provider: "posix", exit: model.Exit{Signal: "SIGSEGV"}, err: "unless: killed by SIGSEGV"},
		{name: "127 from a shell", provider: "shell", exit: model.Exit{Code: 127, Output: "sh: 1: foo: not found\n"}, err: "unless: exit 127: sh: 1: foo: not found"},
		{name: "126 from a shell", provider: "shell", exit: model.Exit{Code: 126}, err: "unless: exit 126: the shell could not run it"},
		{name: "127 without a shell is a no", provider: "posix", exit: model.Exit{Code: 127}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{ends: func(model.Command) (model.Exit, error) { return tt.exit, tt.runErr }}
			spec := declare(t, options(r), map[string]model.Value{"command": text("c"), "unless": text("foo"), "provider": text(tt.provider)})
			d, err := spec.Check(t.Context(), model.Ask{})
			if tt.err == "" {
				if err != nil || !d.Act {
					t.Errorf("%+v, %v", d, err)
				}
				return
			}
			if err == nil || err.Error() != tt.err {
				t.Errorf("error %v, want %s", err, tt.err)
			}
		})
	}
}

func TestGuardsShareTheSettingsOfTheCommand(t *testing.T) {
	r := &runner{ends: exits(1)}
	spec := declare(t, options(r, "HOME=/h", "USER=u"), map[string]model.Value{
		"command": text("c"), "unless": text("g"), "cwd": text("/work"), "environment": pairs("A", "1"),
		"path": text("/p"), "stdin": text("in"), "shell": list("/bin/bash", "-c"),
	})
	if _, err := spec.Check(t.Context(), model.Ask{}); err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Run(t.Context(), model.Stage{}); err == nil {
		t.Fatal("exit 1 is a success")
	}
	guard, command := r.commands[0], r.commands[1]
	if guard.Timeout != 5*time.Minute || guard.Stdin != nil || guard.ProcessTag == command.ProcessTag {
		t.Errorf("guard: %+v", guard)
	}
	if diff := cmp.Diff([]string{"/bin/bash", "-c", "g"}, guard.Argv); diff != "" {
		t.Error(diff)
	}
	unmarked := func(env []string) []string {
		return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, runIDVariable) })
	}
	if diff := cmp.Diff(unmarked(command.Env), unmarked(guard.Env)); diff != "" || guard.Dir != command.Dir {
		t.Errorf("guard and command differ in their surroundings:\n%s", diff)
	}
}

func TestCreatesDecidesByPaths(t *testing.T) {
	dir := t.TempDir()
	r := &runner{}
	spec := declare(t, options(r), map[string]model.Value{"command": text("c"), "cwd": text(dir), "creates": text("out")})
	d, err := spec.Check(t.Context(), model.Ask{})
	if want := "creates " + dir + "/out is missing"; err != nil || !d.Act || d.Reason != want || !d.Missing {
		t.Fatalf("%+v, %v", d, err)
	}
	r.ends = exits(0)
	effect, err := spec.Run(t.Context(), model.Stage{})
	if want := []string{"did not create " + dir + "/out: it will run again"}; err != nil || cmp.Diff(want, effect.Warnings) != "" {
		t.Errorf("%v, %v", effect.Warnings, err)
	}
	r.ends = func(model.Command) (model.Exit, error) {
		return model.Exit{Began: true, Code: 7}, os.WriteFile(filepath.Join(dir, "out"), nil, 0o600)
	}
	effect, err = spec.Run(t.Context(), model.Stage{})
	if err == nil || effect.Appeared != filepath.Join(dir, "out") {
		t.Errorf("%+v, %v", effect, err)
	}
	if d, err = spec.Check(t.Context(), model.Ask{}); err != nil || d.Act {
		t.Errorf("%+v, %v", d, err)
	}
	if err := os.Remove(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if d, err = spec.Check(t.Context(), model.Ask{}); err != nil || d.Act || len(d.Warnings) != 1 {
		t.Errorf("a dangling link: %+v, %v", d, err)
	}
}

func TestDecodeRefusesMistakes(t *testing.T) {
	tests := []struct {
		name, property, message string
		values                  map[string]model.Value
	}{
		{"blank command", "command", "command is empty", map[string]model.Value{"command": text("  ")}},
		{"empty list", "command", "command is empty", map[string]model.Value{"command": list()}},
		{"list for a shell", "command", "a list of words is for provider: posix", map[string]model.Value{"command": list("a"), "provider": text("shell")}},
		{"the provider's word", "command", "| is a shell operator", map[string]model.Value{"command": text("a | b")}},
		{"in a guard", "onlyif", "| is a shell operator", map[string]model.Value{"onlyif": text("a | b")}},
		{"shell and posix", "shell", "shell is given beside provider: posix", map[string]model.Value{"shell": list("/bin/bash", "-c"), "provider": text("posix")}},
		{"relative path", "path", `"." is not an absolute directory`, map[string]model.Value{"path": list("/bin", ".")}},
		{"two directories in an item", "path", `"/a:/b" is more than one directory`, map[string]model.Value{"path": list("/a:/b")}},
		{"empty path entry", "path", `"" is not an absolute directory`, map[string]model.Value{"path": text("/bin:")}},
		{"unchanged outside returns", "unchanged", "2 is not in returns", map[string]model.Value{"unchanged": ints(0, 2)}},
		{"umask", "umask", `"rwx" is not an octal umask`, map[string]model.Value{"umask": text("rwx")}},
		{"umask too large", "umask", `"1777" is not an octal umask`, map[string]model.Value{"umask": text("1777")}},
		{"empty creates", "creates", "the path is empty", map[string]model.Value{"creates": list("/a", "")}},
		{"empty cwd", "cwd", "cwd is empty", map[string]model.Value{"cwd": text("")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := body(t, tt.values)
			Type(options(&runner{})).Decode(b)
			if len(b.Problems) != 1 || b.Problems[0].Property != tt.property || b.Problems[0].Message != tt.message {
				t.Errorf("%q", b.Problems)
			}
		})
	}
}

func TestSensitiveErrorsHideTheCommand(t *testing.T) {
	r := &runner{ends: func(model.Command) (model.Exit, error) {
		return model.Exit{}, errors.New("deploy-with-key not found in /bin")
	}}
	spec := declare(t, options(r), map[string]model.Value{"command": text("deploy-with-key hunter2"), "sensitive": {Bool: true}})
	if _, err := spec.Run(t.Context(), model.Stage{}); err == nil || err.Error() != "*** not found in /bin" {
		t.Errorf("%v", err)
	}
}
