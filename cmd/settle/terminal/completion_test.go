package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// typedManifest has names that a shell would rather take for something else.
const typedManifest = `
name: typed
resources:
  - exec:
      - plain: {command: "true", description: "as simple: as it gets", tags: [web, "two words"]}
      - "two words": {command: "true", tags: db}
      - "it's": {command: "true"}
      - 'a "quoted" one': {command: "true"}
      - "b:c=d:e": {command: "true"}
      - "x#y $HOME $(id) ` + "`id`" + `": {command: "true"}
      - "hey!you*[x]{a,b}?": {command: "true"}
      - 'back\slash ~ <>&|;()': {command: "true"}
      - "über uns": {command: "true"}
`

// shells are those that settle completion knows, and how one is started so that
// nothing of the machine's own configuration counts.
var shells = map[string]struct{ start, load string }{
	"bash": {"bash --norc --noprofile -i", "source <(settle completion bash)"},
	"zsh":  {"zsh -f -i", "autoload -Uz compinit && compinit -D -u && source <(settle completion zsh)"},
	"fish": {"fish --no-config", "settle completion fish | source"},
}

// keyboard is a shell in which a person types a command line of settle. Instead
// of settle itself a function takes the words and keeps them in a file.
type keyboard struct {
	*terminals
	home, out string
}

func startShell(t *testing.T, shell, before string) *keyboard {
	t.Helper()
	return startConfigured(t, shell, shells[shell].start, before, shells[shell].load)
}

// startConfigured starts a shell by a command in a home directory of its own, and
// has it read some lines first.
func startConfigured(t *testing.T, shell, start string, lines ...string) *keyboard {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed", shell)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"settle.yaml": typedManifest, "my site.yml": "- exec: {name: elsewhere, command: 'true'}\n", "notes.txt": "", "sub/x": "", "broken.yaml": "- exec: {nam: x}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := &keyboard{startTerminal(t, 200, dir), dir, filepath.Join(t.TempDir(), "words")}
	keep := `settle() { printf '%s\0' "$@" > ` + k.out + `.new; mv ` + k.out + `.new ` + k.out + `; }`
	if shell == "fish" {
		keep = `function settle; printf '%s\0' $argv > ` + k.out + `.new; mv ` + k.out + `.new ` + k.out + `; end`
	}
	k.types("HOME=" + dir + " XDG_DATA_HOME=" + dir + "/.xdg XDG_CONFIG_HOME=" + dir + "/.xdg exec " + start)
	for _, line := range append(lines, keep) {
		if line != "" {
			k.types(line)
		}
	}
	k.types("echo rea''dy")
	k.sees("\nready")
	return k
}

// press types keys, Tab and Enter, and returns the words that the shell made of
// the line.
func (k *keyboard) press(keys string) []string {
	k.t.Helper()
	before, behind, _ := strings.Cut(keys, " ^")
	k.do("send-keys", "-l", "settle "+before+behind)
	for range behind {
		k.do("send-keys", "Left")
	}
	k.do("send-keys", "Tab")
	k.do("send-keys", "Enter")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(k.out); err == nil {
			if err := os.Remove(k.out); err != nil {
				k.t.Fatal(err)
			}
			return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		}
	}
	k.t.Fatalf("%s: nothing came of it:\n%s", keys, k.text())
	return nil
}

// typing is what is typed before Tab, and the words that come of it.
// Where ^ stands is the cursor.
var typing = []struct{ keys, want string }{
	{"appl", "apply"},
	{"apply --only exec#pl", "apply | --only | exec#plain"},
	{"apply --only exec#tw", "apply | --only | exec#two words"},
	{`apply --only exec#two\ w`, "apply | --only | exec#two words"},
	{"apply --only 'exec#two w", "apply | --only | exec#two words"},
	{`apply --only "exec#tw`, "apply | --only | exec#two words"},
	{"apply --only=exec#tw", "apply | --only=exec#two words"},
	{"apply --only exec#it", "apply | --only | exec#it's"},
	{`apply --only "exec#it`, "apply | --only | exec#it's"},
	{"apply --only exec#a", `apply | --only | exec#a "quoted" one`},
	{`apply --only "exec#a`, `apply | --only | exec#a "quoted" one`},
	{"apply --only exec#b:c", "apply | --only | exec#b:c=d:e"},
	{"apply --only exec#b:c=d:", "apply | --only | exec#b:c=d:e"},
	{"apply --only=exec#b:c=", "apply | --only=exec#b:c=d:e"},
	{"apply --only exec#x", "apply | --only | exec#x#y $HOME $(id) `id`"},
	{`apply --only "exec#x`, "apply | --only | exec#x#y $HOME $(id) `id`"},
	{"apply --only exec#x#", "apply | --only | exec#x#y $HOME $(id) `id`"},
	{"apply --only exec#hey", "apply | --only | exec#hey!you*[x]{a,b}?"},
	{`apply --only "exec#hey`, "apply | --only | exec#hey!you*[x]{a,b}?"},
	{"apply --only exec#back", `apply | --only | exec#back\slash ~ <>&|;()`},
	{"apply --only exec#ü", "apply | --only | exec#über uns"},
	{"apply --only exec#else ^ 'my site.yml'", "apply | --only | exec#elsewhere | my site.yml"},
	{"forget exec#else ^ 'my site.yml'", "forget | exec#elsewhere | my site.yml"},
	{"apply my\\ site.yml -v --only exec#else", "apply | my site.yml | -v | --only | exec#elsewhere"},
	{"apply broken.yaml --only exec#pl", "apply | broken.yaml | --only | exec#pl"},
	{"apply no-such.yaml --only exec#pl", "apply | no-such.yaml | --only | exec#pl"},
	{"apply - --only exec#pl", "apply | - | --only | exec#pl"},
	{"apply --only exec#no", "apply | --only | exec#no"},
	{"--color nev", "--color | never"},
	{"help appl", "help | apply"},
	{"helper te", "helper | test"},
	{"apply --no-st", "apply | --no-state"},
	{"apply -- my", "apply | -- | my site.yml"},
	{"apply -o te", "apply | -o | text"},
	{"apply my", "apply | my site.yml"},
	{"apply 'my", "apply | my site.yml"},
	{"apply ~/my", "apply | ~/my site.yml"},
	{"apply --tags we", "apply | --tags | web"},
	{"apply --tags web,d", "apply | --tags | web,db"},
	{"apply --skip-tags=db,tw", "apply | --skip-tags=db,two words"},
	{"apply --report ju", "apply | --report | junit="},
	{"apply --report junit=no", "apply | --report | junit=notes.txt"},
	{"apply --report=junit=no", "apply | --report=junit=notes.txt"},
	{"apply --state-dir su", "apply | --state-dir | sub/"},
	{"apply --state-dir=su", "apply | --state-dir=sub/"},
	{"apply --state-dir no", "apply | --state-dir | no"},
	{"explain fil", "explain | file"},
	{"explain exec.crea", "explain | exec.creates"},
	{"explain parall", "explain | parallel"},
	{"completion f", "completion | fish"},
	{"show la", "show | last"},
	{"graph --run la", "graph | --run | last"},
}

// Tab makes one right word of what is typed, whatever is in it.
func TestShellsTakeWhatIsCompleted(t *testing.T) {
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			k := startShell(t, shell, "")
			for _, row := range typing {
				if shell == "fish" && strings.Contains(row.keys, "^") {
					continue // it does not tell what is behind the cursor
				}
				want := strings.Split(strings.Replace(row.want, " ~/", " "+k.home+"/", 1), " | ")
				got := k.press(row.keys)
				if last := len(got) - 1; strings.HasSuffix(row.want, "/") { // zsh takes the slash back when the line is done
					got[last] = strings.TrimSuffix(got[last], "/") + "/"
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s becomes %q, want %q", row.keys, got, want)
				}
			}
		})
	}
}

// With bash-completion, which changes what bash breaks words at and calls
// completions of other programs, it is the same.
func TestBashCompletionChangesNothing(t *testing.T) {
	const loaded = "/usr/share/bash-completion/bash_completion"
	if _, err := os.Stat(loaded); err != nil {
		t.Skip("bash-completion is not installed")
	}
	t.Parallel()
	k := startShell(t, "bash", "source "+loaded)
	for i := 0; i < len(typing); i += 3 { // some are enough to tell: bash takes a second for each
		row := typing[i]
		want := strings.Split(strings.Replace(row.want, " ~/", " "+k.home+"/", 1), " | ")
		if got := k.press(row.keys); !slices.Equal(got, want) {
			t.Errorf("%s becomes %q, want %q", row.keys, got, want)
		}
	}
}

// Where there is a choice the shells show it; zsh and fish say what each of it is.
func TestShellsShowTheChoice(t *testing.T) {
	for shell, want := range map[string][]string{
		"bash": {"exec#plain", `exec#two\ words`, `exec#it\'s`},
		"zsh":  {"exec#plain ", "-- as simple: as it gets", "exec#two words", "exec#it's", "exec#b:c=d:e", `exec#back\slash ~ <>&|;()`},
		"fish": {"exec#plain ", "(as simple: as it gets)", "exec#two words", "exec#it's", "exec#b:c=d:e", `exec#back\slash ~ <>&|;()`},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			k := startShell(t, shell, "")
			k.do("send-keys", "-l", "settle apply --only exec#")
			k.do("send-keys", "Tab", "Tab")
			k.sees(want...)
			k.do("send-keys", "C-u")
			k.do("send-keys", "-l", "settle helper ")
			k.do("send-keys", "Tab", "Tab")
			if seen := k.sees("input", "run", "test"); (shell != "bash") != strings.Contains(seen, "Run a helper once") {
				t.Errorf("what a command does:\n%s", seen)
			}
		})
	}
}

// A manifest is what is looked for first, and in fish too nothing is hidden.
func TestManifestsComeFirst(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("fish"); err != nil {
		t.Skip("fish is not installed")
	}
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "b.yaml", "c.yml"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("fish", "--no-config", "-c", "settle completion fish | source; complete -C 'settle plan '; echo ==; complete -C 'settle plan --out '")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // fish writes there
	out, err := cmd.Output()
	if want := "b.yaml\nc.yml\na.txt\n==\na.txt\nb.yaml\nc.yml\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

// Where the README says that the script belongs the shells find it by themselves,
// when settle is completed for the first time.
func TestShellsFindWhatIsInstalled(t *testing.T) {
	for shell, row := range map[string]struct {
		start string
		lines []string
	}{
		"bash": {shells["bash"].start, []string{
			"mkdir -p .xdg/bash-completion/completions; settle completion bash > .xdg/bash-completion/completions/settle",
			"source /usr/share/bash-completion/bash_completion",
		}},
		"zsh":  {shells["zsh"].start, []string{"mkdir site; settle completion zsh > site/_settle", "fpath=($HOME/site $fpath); autoload -Uz compinit; compinit -D -u"}},
		"fish": {"fish", []string{"mkdir -p .xdg/fish/completions; settle completion fish > .xdg/fish/completions/settle.fish"}},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); shell == "bash" && err != nil {
				t.Skip("bash-completion is not installed")
			}
			k := startConfigured(t, shell, row.start, row.lines...)
			for range 2 { // the second time it is loaded
				if got := k.press("apply --only exec#tw"); !slices.Equal(got, []string{"apply", "--only", "exec#two words"}) {
					t.Errorf("%q", got)
				}
			}
		})
	}
}
