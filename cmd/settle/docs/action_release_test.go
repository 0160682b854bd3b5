//go:build unix

package docs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// releasedProgram stands in for the settle of a release.
const releasedProgram = "#!/bin/sh\necho released settle: $*\n"

// goStandIn stands in for Go, which would build for minutes with an empty cache.
const goStandIn = `#!/bin/sh
test "$1 $2 $4 $6" = "build -C -o ./cmd/settle" && test -f "$3/cmd/settle/main.go" || exit 1
mkdir -p "${5%/*}"
printf '#!/bin/sh\necho built settle: $*\n' >"$5"
chmod +x "$5"
`

// serveRelease serves a release 1.2.3 for this machine on the loopback interface. It
// returns its address and the checksum of the archive. sums changes SHA256SUMS.
func serveRelease(t *testing.T, sums func(string) string) (address, checksum string) {
	t.Helper()
	name := fmt.Sprintf("settle_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	for _, err := range []error{
		w.WriteHeader(&tar.Header{Name: name + "/bin/settle", Mode: 0o755, Size: int64(len(releasedProgram))}),
		func() error { _, err := w.Write([]byte(releasedProgram)); return err }(), w.Close(), z.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	checksum = fmt.Sprintf("%x", sha256.Sum256(archive.Bytes()))
	files := map[string]string{
		"/v1.2.3/" + name + ".tar.gz": archive.String(),
		"/v1.2.3/SHA256SUMS":          sums(checksum + "  " + name + ".tar.gz\n"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text)) // a client that went away fails the test by itself
	}))
	t.Cleanup(server.Close)
	return server.URL, checksum
}

// withoutSettle returns directories for PATH that hold the programs that the action
// needs, and no settle.
func withoutSettle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "sh", "curl", "uname", "mktemp", "rm", "awk", "sha256sum", "shasum", "tar", "gzip", "mkdir", "chmod", "mv", "cat"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil && name != "sha256sum" && name != "shasum" {
			t.Skipf("the action needs %s: %v", name, err)
		}
	}
	return dir
}

// The action uses the settle of a release only after comparing its checksum, and
// builds settle where there is no release.
func TestActionGetsSettle(t *testing.T) {
	same := func(text string) string { return text }
	for _, tt := range []struct {
		name         string
		version, ref string
		checksum     func(right string) string
		sums         func(string) string
		settleInPath bool
		failure      string // what the log has in it
		local, built bool   // the settle in PATH, or a built one, is used
	}{
		{name: "a version", version: "1.2.3"},
		{name: "a version with v, over the settle in PATH", version: "v1.2.3", settleInPath: true},
		{name: "the version of the action", ref: "v1.2.3"},
		{name: "a version with its checksum", version: "1.2.3", checksum: same, sums: func(string) string { return "" }},
		{name: "a wrong checksum", version: "1.2.3", checksum: func(string) string { return strings.Repeat("0", 64) }, failure: "has the checksum"},
		{name: "a wrong SHA256SUMS", version: "1.2.3", sums: func(text string) string { return "0" + text[1:] }, failure: "has the checksum"},
		{name: "a SHA256SUMS without the archive", version: "1.2.3", sums: func(string) string { return "abc  other\n" }, failure: "does not name"},
		{name: "a version without a release", version: "1.2.4", failure: "there is no release 1.2.4"},
		{name: "a version that is none", version: "main", failure: `version "main" is neither`},
		{name: "the settle in PATH", ref: "v1.2.3", settleInPath: true, local: true},
		{name: "a tag without a release", ref: "v1.2.4", built: true},
		{name: "a branch", ref: "main", built: true},
		{name: "source, when told to", version: "source", ref: "v1.2.3", settleInPath: true, built: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.sums == nil {
				tt.sums = same
			}
			address, checksum := serveRelease(t, tt.sums)
			p := newPipelineRun(t)
			p.must(os.Remove(filepath.Join(p.dir, "bin", "curl")))
			p.job(map[string]string{"github.action_ref": tt.ref, "github.action_path": top})
			p.put("bin/go", goStandIn, 0o700)
			p.env = []string{"SETTLE_RELEASES=" + address}
			if !tt.settleInPath {
				p.system = withoutSettle(t)
			}
			with := map[string]string{"command": "validate", "version": tt.version}
			if tt.checksum != nil {
				with["checksum"] = tt.checksum(checksum)
			}
			p.action("settle", with)
			want := "released settle: validate settle.yaml"
			switch {
			case tt.failure != "":
				want = tt.failure
			case tt.local:
				want = "valid: 2 resources"
			case tt.built:
				want = "built settle: validate settle.yaml"
			}
			if log := p.log.String(); p.failed != (tt.failure != "") || !strings.Contains(log, want) {
				t.Errorf("failed %v, want %q in\n%s", p.failed, want, log)
			}
		})
	}
}

// The page of a release gets the section of its version, and a release without a
// section is not made.
func TestReleaseNotesAreTheSectionOfTheVersion(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(top, ".packaging", "notes"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".packaging"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(".packaging/notes", string(script))
	put("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.3 (2026-12-01)\n\n### Added\n\n- a thing\n\n## 1.2.2\n\n## 1.2.1\n\n- old\n")
	for version, want := range map[string]string{"v1.2.3": "### Added\n\n- a thing\n", "1.2.1": "- old\n", "1.2.2": "", "1.2": ""} {
		got, err := exec.Command(filepath.Join(dir, ".packaging", "notes"), version).Output()
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("notes %s prints %q, %v; want %q", version, got, err, want)
		}
	}
	if out, err := exec.Command(filepath.Join(top, ".packaging", "notes"), "Unreleased").CombinedOutput(); err != nil {
		t.Errorf("the changelog: %v\n%s", err, out)
	}
}
