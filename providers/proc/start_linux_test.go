package proc

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

func TestNoexecMountIsExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOEXEC, ""); err != nil {
		t.Skipf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(dir, "tool")
	copyFile(t, "/bin/true", file)
	e, err := Run(t.Context(), model.Command{Argv: []string{file}, Dir: "/"})
	if want := file + " is executable, but its file system is mounted noexec"; e.Began || err == nil || err.Error() != want {
		t.Errorf("%v, %v, want %s", e, err, want)
	}
}
