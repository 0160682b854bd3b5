package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionLine(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, row := range []struct {
		build build
		want  string
	}{
		{build{Version: "1.2.3", Commit: commit, Date: "2026-01-02T03:04:05Z"}, "settle 1.2.3 (commit 0123456789ab of 2026-01-02T03:04:05Z)"},
		{build{Version: "1.2.3", Commit: commit + modifiedMark, Date: "2026-01-02T03:04:05Z"}, "settle 1.2.3 (commit 0123456789ab of 2026-01-02T03:04:05Z, modified)"},
		{build{Version: "1.2.3"}, "settle 1.2.3 (of no known commit)"},
	} {
		if got := row.build.String(); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

func TestVersionOfAModule(t *testing.T) {
	for version, want := range map[string][2]string{
		"(devel)": {}, "v1.2.3": {}, "": {}, "v1.2.3-rc.1": {}, "v0.0.0-20269902030405-0123456789ab": {},
		"v0.0.0-20260102030405-0123456789ab":         {"0123456789ab", "2026-01-02T03:04:05Z"},
		"v0.1.1-0.20260102030405-0123456789ab":       {"0123456789ab", "2026-01-02T03:04:05Z"},
		"v0.1.1-rc.1.0.20260102030405-0123456789ab":  {"0123456789ab", "2026-01-02T03:04:05Z"},
		"v0.1.1-0.20260102030405-0123456789ab+dirty": {},
	} {
		if commit, date := parsePseudoVersion(version); commit != want[0] || date != want[1] {
			t.Errorf("%s: %s of %s", version, commit, date)
		}
	}
}

func TestBuildInfo(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	commit, at := setting("vcs.revision", "0123abc"), setting("vcs.time", "2026-01-02T03:04:05Z")
	for _, row := range []struct {
		info         debug.BuildInfo
		commit, date string
	}{
		{debug.BuildInfo{Settings: []debug.BuildSetting{commit, at, setting("vcs.modified", "false")}}, "0123abc", "2026-01-02T03:04:05Z"},
		{debug.BuildInfo{Settings: []debug.BuildSetting{commit, at, setting("vcs.modified", "true")}}, "0123abc-modified", "2026-01-02T03:04:05Z"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20260102030405-0123456789ab"}}, "0123456789ab", "2026-01-02T03:04:05Z"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "", ""}, // a bare tree
	} {
		if b := readBuild(&row.info); b.Version != version || b.Commit != row.commit || b.Date != row.date {
			t.Errorf("%+v is %+v", row.info, b)
		}
	}
}

// A build in a checkout says what commit it is of, without being told.
func TestABuildSaysWhatItIsOf(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	tree := t.TempDir()
	for _, dir := range []string{"cmd", "manifests", "model", "providers", "resources"} {
		if err := os.CopyFS(filepath.Join(tree, dir), os.DirFS(filepath.Join(top, dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(top, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(tree, file), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	do := func(words ...string) string {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = tree
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=true", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
			"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	do("git", "init", "-q")
	do("git", "add", ".")
	do("git", "commit", "-q", "-m", "x")
	commit := strings.TrimSpace(do("git", "rev-parse", "HEAD"))
	program := filepath.Join(t.TempDir(), "settle")
	do("go", "build", "-ldflags", "-X main.version=9.8.7", "-o", program, "./cmd/settle")
	var b build
	if err := json.Unmarshal([]byte(do(program, "version", "--json")), &b); err != nil {
		t.Fatal(err)
	}
	if b.Version != "9.8.7" || b.Commit != commit || b.Date != "2026-01-02T03:04:05Z" {
		t.Errorf("a release is %+v, want commit %s", b, commit)
	}
	if page := do(program, "man"); !strings.HasPrefix(page, `.TH SETTLE 1 "2026-01-02" "settle 9.8.7"`) {
		t.Errorf("its manual begins with %.60q", page)
	}
}
