package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
)

// OtherUsers returns a message for each other user that has, or may have, state of
// the same manifest. A normal user learns of root's state, root of the state of
// the user who called sudo.
func (s Store) OtherUsers(env func(string) string, uid int) []string {
	if uid != 0 {
		return s.checkOtherStore(systemDir, "root")
	}
	u, err := user.Lookup(env("SUDO_USER"))
	if err != nil || u.Uid == "0" {
		return nil
	}
	return s.checkOtherStore(userDir(u.HomeDir), u.Username)
}

func (s Store) checkOtherStore(dir, who string) []string {
	if dir == s.Dir {
		return nil
	}
	other := Store{Dir: dir, Identity: s.Identity}
	switch _, err := os.Stat(other.file("journal")); {
	case err == nil:
		return []string{fmt.Sprintf("%s has state of this manifest too, in %s: what is owed there is not known here", who, other.Path())}
	case errors.Is(err, fs.ErrPermission):
		return []string{fmt.Sprintf("%s may have state of this manifest in %s: it cannot be read", who, dir)}
	}
	return nil
}
