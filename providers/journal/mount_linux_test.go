package journal

import (
	"strings"
	"syscall"
)

func mountTmpfs(dir, options string) error {
	var flags uintptr
	if rest, ok := strings.CutPrefix(options, "ro,"); ok {
		options, flags = rest, syscall.MS_RDONLY
	}
	return syscall.Mount("tmpfs", dir, "tmpfs", flags, options)
}

func unmount(dir string) error { return syscall.Unmount(dir, 0) }
