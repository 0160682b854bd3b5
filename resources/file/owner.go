package file

import (
	"fmt"
	"os/user"
	"strconv"
	"sync"
)

// unknownError reports a user or group that does not exist (yet).
type unknownError struct{ kind, name string }

func (e unknownError) Error() string { return fmt.Sprintf("%s %q does not exist", e.kind, e.name) }

// uid returns the id of a user given by name or number.
func (w *world) uid(name string) (uint32, error) {
	return lookUpID(&w.users, "user", name, func() (string, error) {
		u, err := user.Lookup(name)
		if err != nil {
			return "", err
		}
		return u.Uid, nil
	})
}

// gid returns the id of a group given by name or number.
func (w *world) gid(name string) (uint32, error) {
	return lookUpID(&w.groups, "group", name, func() (string, error) {
		g, err := user.LookupGroup(name)
		if err != nil {
			return "", err
		}
		return g.Gid, nil
	})
}

// lookUpID returns the id of a name and remembers it for the run. It does not
// remember that a name is missing, because a resource may create it. A number
// that is no name is its own id.
func lookUpID(known *sync.Map, kind, name string, look func() (string, error)) (uint32, error) {
	if id, ok := known.Load(name); ok {
		return id.(uint32), nil
	}
	text, err := look()
	if err != nil {
		text = name
	}
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, unknownError{kind, name}
	}
	known.Store(name, uint32(id))
	return uint32(id), nil
}

// userName returns the name of a user id, or the number when it has no name.
func userName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return text
}

// groupName returns the name of a group id, or the number when it has no name.
func groupName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if g, err := user.LookupGroupId(text); err == nil {
		return g.Name
	}
	return text
}

// Owners returns functions that find the ids of users and groups, for other types.
func Owners() (uid, gid func(name string) (uint32, error)) {
	w := &world{}
	return w.uid, w.gid
}
