//go:build unix

package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// convergeHuge copies a large source, and compares it.
func convergeHuge(dir string) error {
	m, problems := load(dir, "- file: [{"+dir+"/path: {source: large}}]")
	if len(problems) > 0 {
		return problems
	}
	spec := m.Resources[0].Spec
	_, err := spec.Run(context.Background(), model.Stage{})
	d, checkErr := spec.Check(context.Background(), model.Ask{})
	if d.Act {
		err = errors.Join(err, errors.New(d.Reason))
	}
	return errors.Join(err, checkErr)
}

// walkAsNobody tells what a plan and an apply say to someone without rights.
func walkAsNobody(dir string) error {
	yaml := fmt.Sprintf(`
- file:
    - %[1]s/closed/file: {content: x}
    - %[1]s/unread: {content: xxx}
    - %[1]s/read: {content: yyy}
    - copy: {path: %[1]s/open/copy, source: %[1]s/closed/other}
    - %[1]s/open/mine: {content: x, owner: "0"}
- exec:
    - reload: {command: "true", refreshonly: true, subscribe: 'file#%[1]s/unread'}
`, dir)
	for _, act := range []engine.Act{engine.Preview, engine.Apply} {
		m, problems := load(dir, yaml)
		if len(problems) > 0 {
			return problems
		}
		outcomes, err := engine.Run(context.Background(), &model.Plan{Manifest: m, Memory: model.Replay(nil)}, engine.Options{Act: act, Journal: engine.NoJournal{}, Now: time.Now})
		if err != nil {
			return err
		}
		for i := range outcomes {
			fmt.Println(shown(&outcomes[i], dir), outcomes[i].Began)
		}
	}
	return nil
}

// What may not be looked at may differ: a plan says so, and goes on.
func TestWithoutRightsTheFailureNamesThePath(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be somebody else")
	}
	const nobody = 65534
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755),
		os.Mkdir(at("closed"), 0o700), os.Mkdir(at("open"), 0o755), os.Chown(at("open"), nobody, nobody),
		os.WriteFile(at("unread"), []byte("old"), 0o600),
		os.WriteFile(at("read"), []byte("old"), 0o644), os.Chmod(at("read"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe") // nobody may not enter the directory of the test binary
	cmd.Env, cmd.Dir = []string{role + "=nobody " + dir}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := `may_run: content (look at DIR/closed/file: permission denied) not read false
may_run: content (open DIR/unread: permission denied) not read false
would_run: content differs (write in DIR: permission denied) false
may_run: source (read source DIR/closed/other: permission denied) not read false
would_run: missing false
may_run: file#DIR/unread may change or not false
failed: look at DIR/closed/file: permission denied false
failed: open DIR/unread: permission denied false
failed: write DIR/read: permission denied false
failed: read source DIR/closed/other: permission denied false
failed: replace DIR/open/mine: give it to uid 0: operation not permitted false
skipped: file#DIR/unread failed false
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}
