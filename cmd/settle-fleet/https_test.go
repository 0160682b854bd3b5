//go:build unix

package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// A machine takes its releases from a web server over TLS. Each answer of the
// server that is no release leaves in force the release of before.
func TestReleaseOverHTTPS(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed (Debian package openssh-client)")
	}
	w := &world{t: t, dir: t.TempDir()}
	w.sh("ssh-keygen -q -t ed25519 -N '' -C '' -f key && printf 'me@example.com %s\\n' \"$(cat key.pub)\" >allowed_signers")
	w.write("site/settle.yaml", siteManifest)
	w.write("site/common.yaml", "root: "+w.dir+"\n")
	w.ok("publish", "site", "--name", "web", "--sign", "key", "--to", "www")

	plain := httptest.NewServer(http.FileServer(http.Dir(w.path("www"))))
	t.Cleanup(plain.Close)
	var answer atomic.Value
	answer.Store(http.FileServer(http.Dir(w.path("www"))).ServeHTTP)
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		answer.Load().(func(http.ResponseWriter, *http.Request))(out, in)
	}))
	t.Cleanup(server.Close)
	w.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	w.write("fleet.yaml", fmt.Sprintf("fleet: demo\nmachine: alpha\nreleases: [web]\nfrom: %s\nallowed_signers: allowed_signers\nstate: agent\nsettle_state: settle\n", server.URL))
	round := func(roots string) (string, int) {
		cmd := w.command("settle-fleet", "agent", "--once", "--config", "fleet.yaml")
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+roots, "SSL_CERT_DIR="+w.dir+"/none", "HTTPS_PROXY=", "https_proxy=")
		out, err := cmd.CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}

	w.write("empty.pem", "")
	if out, code := round(w.path("empty.pem")); code != exitUnreadable || !strings.Contains(out, "certificate signed by unknown authority") {
		t.Errorf("with a server that it does not trust it exits %d\n%s", code, out)
	}
	if out, code := round(w.path("ca.pem")); code != 0 || !strings.Contains(out, "took up release=web@1 signer=me@example.com") {
		t.Fatalf("exits %d\n%s", code, out)
	}
	for _, row := range []struct {
		name, want string
		answer     func(http.ResponseWriter, *http.Request)
	}{
		{"an error", "release.json: the server answers 503 Service Unavailable", func(out http.ResponseWriter, _ *http.Request) {
			out.WriteHeader(http.StatusServiceUnavailable)
		}},
		{"a way out of https", "it leads away from https, or too far", func(out http.ResponseWriter, in *http.Request) {
			http.Redirect(out, in, plain.URL+in.URL.Path, http.StatusFound)
		}},
		{"a text without end", "release.json: it is longer than 65536 bytes", func(out http.ResponseWriter, _ *http.Request) {
			_, _ = out.Write([]byte(strings.Repeat("x", 1<<20))) // the reader leaves
		}},
		{"a cut answer", "unexpected EOF", func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Length", "1000")
			_, _ = out.Write([]byte("{")) // the rest is missing on purpose
		}},
		{"nothing", "", func(out http.ResponseWriter, in *http.Request) { http.NotFound(out, in) }},
	} {
		answer.Store(row.answer)
		if err := os.Remove(w.path("page")); err != nil {
			t.Fatal(err)
		}
		out, code := round(w.path("ca.pem"))
		if code != 0 || !strings.Contains(out, row.want) || strings.Contains(out, "no news") != (row.want != "") {
			t.Errorf("%s: exits %d\n%s", row.name, code, out)
		}
		if got := w.read("page"); got != "one\n" {
			t.Errorf("%s: the release in force was not applied: %q", row.name, got)
		}
	}
	server.Close()
	if out, code := round(w.path("ca.pem")); code != 0 || !strings.Contains(out, "connection refused") {
		t.Errorf("without the server it exits %d\n%s", code, out)
	}
}
