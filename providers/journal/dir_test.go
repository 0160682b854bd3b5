package journal

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDirFollowsFlagAndEnvironment(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"SETTLE_STATE_DIR": "/env", "XDG_STATE_HOME": "/xdg", "HOME": "/home/alice"}
	rows := []struct {
		name, flag string
		env        map[string]string
		uid        int
		want       string
		problem    string
	}{
		{"the flag is over everything", "/flag", all, 0, "/flag", ""},
		{"the flag may be relative", "a/../b", nil, 1, here + "/b", ""},
		{"the variable is next", "", all, 0, "/env", ""},
		{"a relative variable is of the working directory", "", map[string]string{"SETTLE_STATE_DIR": "s"}, 0, here + "/s", ""},
		{"root has its own, whatever its HOME is", "", map[string]string{"HOME": "/root", "XDG_STATE_HOME": "/xdg"}, 0, "/var/lib/settle", ""},
		{"root needs no HOME", "", nil, 0, "/var/lib/settle", ""},
		{"XDG_STATE_HOME", "", map[string]string{"HOME": "/home/alice", "XDG_STATE_HOME": "/xdg"}, 1, "/xdg/settle", ""},
		{"XDG_STATE_HOME needs no HOME", "", map[string]string{"XDG_STATE_HOME": "/xdg"}, 1, "/xdg/settle", ""},
		{"a relative XDG_STATE_HOME is ignored", "", map[string]string{"HOME": "/home/alice", "XDG_STATE_HOME": "x"}, 1, "/home/alice/.local/state/settle", ""},
		{"HOME", "", map[string]string{"HOME": "/home/alice/"}, 1, "/home/alice/.local/state/settle", ""},
		{"no HOME", "", nil, 1, "", "HOME is not set; set HOME or SETTLE_STATE_DIR, name a directory with --state-dir"},
		{"HOME is the root directory", "", map[string]string{"HOME": "//"}, 1, "", `HOME is "//"`},
		{"HOME is relative", "", map[string]string{"HOME": "alice"}, 1, "", `HOME is "alice"`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := Dir(row.flag, func(key string) string { return row.env[key] }, row.uid)
			if got != row.want {
				t.Errorf("is %q, want %q", got, row.want)
			}
			if (err != nil) != (row.problem != "") || err != nil && !strings.Contains(err.Error(), row.problem) {
				t.Errorf("error %v, want %q", err, row.problem)
			}
		})
	}
}

func TestEscapeGivesDistinctNames(t *testing.T) {
	t.Parallel()
	rows := []struct{ identity, want string }{
		{"web", "web"},
		{"/srv/app/settle.yaml", "+srv+app+settle.yaml"},
		{"a+b", "a%2bb"},
		{".", "%2e"},
		{"..", "%2e."},
		{".hidden", "%2ehidden"},
		{"paused", "paused"},
		{"two words", "two%20words"},
		{"naïve", "na%c3%afve"},
		{"a=b", "a%3db"},
		{"Web", "Web=2975104784a401e3880e2215550e9490"},
		{"", "=e3b0c44298fc1c14"},
		{strings.Repeat("x", 100), strings.Repeat("x", 100)},
		{strings.Repeat("x", 101), strings.Repeat("x", 100) + "="},
	}
	for _, row := range rows {
		if got := escape(row.identity); got != row.want && (!strings.Contains(row.want, "=") || !strings.HasPrefix(got, row.want)) {
			t.Errorf("%q becomes %q, want %q", row.identity, got, row.want)
		}
	}
}

var safeName = regexp.MustCompile(`^[a-zA-Z0-9_+%=-][a-zA-Z0-9_+%=.-]*$`)

func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"web", "Web", "/srv/a", "+srv+a", "a%2bb", ".", "", "é", strings.Repeat("/x", 90), "Web=2975104784a401e3880e2215550e9490"} {
		f.Add(seed, "web")
		f.Add(seed, seed+"x")
		f.Add(seed, strings.ToUpper(seed))
		f.Add(seed, escape(seed))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := escape(a), escape(b)
		if !safeName.MatchString(x) || len(x) > 133 || filepath.Base(x) != x {
			t.Fatalf("%q becomes %q", a, x)
		}
		if a != b && strings.EqualFold(x, y) {
			t.Fatalf("%q and %q share %q", a, b, x)
		}
	})
}
