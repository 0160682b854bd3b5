//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// natsServer returns the program nats-server: of NATS_SERVER, of PATH, or built
// from its own module.
var natsServer = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("NATS_SERVER"); path != "" {
		return path, nil
	}
	if path, err := exec.LookPath("nats-server"); err == nil {
		return path, nil
	}
	cmd := exec.Command("go", "tool", "-n", "nats-server")
	cmd.Dir = filepath.Join("testdata", "natsserver")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build nats-server: %w\n%s", err, &complaints)
	}
	return strings.TrimSpace(string(out)), nil
})

// world is a fleet on one host: a server, operators and machines, each machine
// with directories of its own.
type world struct {
	t      *testing.T
	dir    string
	port   int
	server *exec.Cmd
}

const siteManifest = `name: web
vars:
  root: {type: string, required: true}
resources:
  - file:
      - page:
          path: ${var.root}/page
          content: "one\n"
`

// newWorld starts a server with the configuration that settle-fleet prints, and
// publishes and opens web@1.
func newWorld(t *testing.T, jetstream string, machines ...string) *world {
	t.Helper()
	if _, err := natsServer(); err != nil {
		if os.Getenv("SETTLE_FLEET_NEEDS_NATS") != "" {
			t.Fatal(err)
		}
		t.Skip("no nats-server: set NATS_SERVER, or install it: ", err)
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed (Debian package openssh-client)")
	}
	w := &world{t: t, dir: t.TempDir(), port: freePort(t)}
	w.sh("ssh-keygen -q -t ed25519 -N '' -C '' -f key && printf 'me@example.com %s\\n' \"$(cat key.pub)\" >allowed_signers")
	operator := strings.TrimSpace(w.ok("key", "op.nk"))
	w.write("op.json", fmt.Sprintf(`{"url": "nats://127.0.0.1:%d", "nkey": "op.nk"}`, w.port))
	w.write("site/settle.yaml", siteManifest)
	joined := ""
	for _, m := range machines {
		joined += w.join(m)
	}
	w.write("machines.txt", joined)
	w.write("machines.conf", w.ok("permissions", "--from", "machines.txt"))
	w.write("nats.conf", fmt.Sprintf("listen: \"127.0.0.1:%d\"\njetstream {store_dir: %q, %s}\n%s", w.port, w.path("store"), jetstream, w.ok("permissions", "--accounts", "--operator", operator)))
	w.start()
	t.Cleanup(w.kill)
	w.ok("init")
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	w.ok("open", "web@1", "--sign", "key")
	return w
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// join makes a machine's directory and returns the line that join prints.
func (w *world) join(m string) string {
	line := w.ok("join", "--server", fmt.Sprintf("nats://127.0.0.1:%d", w.port), "--machine", m, "--releases", "web", "--dir", m, "--signers", "allowed_signers")
	w.sh("printf 'state: agent\\nsettle_state: settle\\nfetch_spread: 0\\nlabels: {site: lab}\\n' >>" + m + "/fleet.yaml")
	w.write("site/hosts/"+m+".yaml", "root: "+w.path(m)+"\n")
	return line
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func (w *world) sh(script string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// command is a program of this world. TestMain has put settle and settle-fleet into PATH.
func (w *world) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "SETTLE_FLEET=demo", "SETTLE_FLEET_CONTEXT="+w.path("op.json"), "SETTLE_STATE_DIR="+w.path("settle-state"), "HOME="+w.dir)
	return cmd
}

// try runs settle-fleet and returns its output, both streams, and its exit code.
func (w *world) try(args ...string) (string, int) {
	w.t.Helper()
	cmd := w.command("settle-fleet", args...)
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		w.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// ok runs settle-fleet, which has to exit 0, and returns its standard output.
func (w *world) ok(args ...string) string {
	w.t.Helper()
	cmd := w.command("settle-fleet", args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("settle-fleet %s: %v\n%s%s", strings.Join(args, " "), err, out, &complaints)
	}
	return string(out)
}

// round does one round of a machine's agent, which has to exit 0, and returns
// what it says.
func (w *world) round(m string) string {
	w.t.Helper()
	out, code := w.try("agent", "--once", "--config", m+"/fleet.yaml")
	if code != 0 {
		w.t.Fatalf("the agent of %s exits %d\n%s", m, code, out)
	}
	return out
}

// start starts the server and waits until it answers.
func (w *world) start() {
	w.t.Helper()
	program, err := natsServer()
	if err != nil {
		w.t.Fatal(err)
	}
	log, err := os.OpenFile(w.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	w.server = exec.Command(program, "-c", w.path("nats.conf"))
	w.server.Dir, w.server.Stdout, w.server.Stderr = w.dir, log, log
	if err := w.server.Start(); err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	for {
		if strings.Count(w.read("server.log"), "Server is ready") == strings.Count(w.read("server.log"), "Starting nats-server") {
			if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.port)); err == nil {
				_ = conn.Close() // it only had to open
				return
			}
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("the server does not start:\n%s", w.read("server.log"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// kill ends the server as a power loss does.
func (w *world) kill() {
	if w.server != nil {
		_ = w.server.Process.Kill() // it may have ended
		_ = w.server.Wait()         // it was killed
		w.server = nil
	}
}
