package system

import (
	"os"
	"path/filepath"
)

// PackageManager names the package manager of this machine: "apt" or "dnf", or ""
// where neither is installed.
func PackageManager() string {
	for _, m := range []struct{ name, program, database string }{
		{"apt", "apt-get", "/var/lib/dpkg/status"},
		{"dnf", "dnf", "/var/lib/rpm"},
		{"dnf", "dnf", "/usr/lib/sysimage/rpm"},
	} {
		if _, err := os.Stat(m.database); err == nil && isInstalled(m.program) {
			return m.name
		}
	}
	return ""
}

// isInstalled reports whether a program is in one of the system's directories.
func isInstalled(program string) bool {
	for _, dir := range path {
		if info, err := os.Stat(filepath.Join(dir, program)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
