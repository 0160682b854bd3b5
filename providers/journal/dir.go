package journal

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
)

const systemDir = "/var/lib/settle"

// Dir returns the state directory: the flag's, SETTLE_STATE_DIR's, root's
// /var/lib/settle, or settle's folder under $XDG_STATE_HOME or ~/.local/state.
func Dir(flag string, env func(string) string, uid int) (string, error) {
	for _, dir := range []string{flag, env("SETTLE_STATE_DIR")} {
		if dir == "" {
			continue
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", &Error{fmt.Sprintf("cannot tell where %q is: %v", dir, err), err}
		}
		return abs, nil
	}
	if uid == 0 {
		return systemDir, nil
	}
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) { // a relative one is to be ignored, says the XDG specification
		return filepath.Join(dir, "settle"), nil
	}
	home := env("HOME")
	switch {
	case home == "":
		return "", newHomeError("HOME is not set")
	case !filepath.IsAbs(home) || filepath.Clean(home) == "/":
		return "", newHomeError(fmt.Sprintf("HOME is %q", home))
	}
	return userDir(home), nil
}

func userDir(home string) string { return filepath.Join(home, ".local/state/settle") }

func newHomeError(why string) error {
	return &Error{Message: "cannot tell where to keep state: " + why + "; set HOME or SETTLE_STATE_DIR, name a directory with --state-dir, or remember nothing with --no-state"}
}

// maxName bounds the length of an escaped identity, well below the limit of any file system.
const maxName = 100

// escape turns an identity into a directory name that stays readable. No two
// identities share a name, also on file systems that ignore case.
func escape(identity string) string {
	var b strings.Builder
	whole := identity != ""
	for i := range len(identity) {
		switch c := identity[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c)
			whole = false // some file systems ignore case
		case c == '/':
			b.WriteByte('+')
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	name := b.String()
	if whole && len(name) <= maxName {
		return name
	}
	// '=' is never part of an unabridged name
	return fmt.Sprintf("%s=%x", name[:min(len(name), maxName)], sha256.Sum256([]byte(identity)))[:min(len(name), maxName)+1+32]
}
