package exec

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/settle-cm/settle/model"
)

// account is the account that a command runs as.
type account struct {
	name, home, shell string
	credential        *model.Credential // nil: the account that runs settle
}

// otherUser returns the user or group that the command runs as when settle runs as
// another one, else "". Such a command needs root.
func (c *command) otherUser() string {
	if c.user == "" && c.group == "" {
		return ""
	}
	euid, egid := strconv.Itoa(os.Geteuid()), strconv.Itoa(os.Getegid())
	if c.user != "" && c.user != euid {
		if u, err := user.Lookup(c.user); err != nil || u.Uid != euid {
			return c.user
		}
	}
	if c.group != "" && c.group != egid {
		if g, err := user.LookupGroup(c.group); err != nil || g.Gid != egid {
			return "group " + c.group
		}
	}
	return ""
}

// account looks up the account of the command. It is called right before the
// command starts, because an earlier resource may create the user.
func (c *command) account() (account, error) {
	if c.otherUser() == "" {
		if c.user == "" {
			return account{}, nil
		}
		return currentAccount(), nil
	}
	who := account{name: "root", home: "/root", credential: &model.Credential{}}
	if c.user != "" {
		u, err := lookupUser(c.user)
		if err != nil {
			return account{}, err
		}
		who.name, who.home = u.Username, u.HomeDir
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return account{}, fmt.Errorf("look up user %q: its uid %q is no number", c.user, u.Uid)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return account{}, fmt.Errorf("look up user %q: its gid %q is no number", c.user, u.Gid)
		}
		who.credential.UID, who.credential.GID = uint32(uid), uint32(gid)
		who.credential.Groups = groups(u)
	}
	who.shell = "/bin/sh"
	if c.group == "" {
		return who, nil
	}
	gid, err := lookupGroup(c.group)
	who.credential.GID = gid
	return who, err
}

// requireRoot returns an error when the command needs root and settle is not root.
func (c *command) requireRoot() error {
	if other := c.otherUser(); other != "" && os.Geteuid() != 0 {
		return fmt.Errorf("run as %s: only root may: %w", other, model.ErrNotPermitted)
	}
	return nil
}

func lookupUser(name string) (*user.User, error) {
	if u, err := user.Lookup(name); err == nil {
		return u, nil
	}
	if _, err := strconv.ParseUint(name, 10, 32); err != nil {
		return nil, fmt.Errorf("user %q does not exist", name)
	}
	if u, err := user.LookupId(name); err == nil {
		return u, nil
	}
	return &user.User{Uid: name, Gid: name, Username: name, HomeDir: "/"}, nil // a uid needs no name
}

func lookupGroup(name string) (uint32, error) {
	text := name
	if g, err := user.LookupGroup(name); err == nil {
		text = g.Gid
	}
	gid, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("group %q does not exist", name)
	}
	return uint32(gid), nil
}

// groups returns the user's supplementary groups. A user without a name has none.
func groups(u *user.User) []uint32 {
	ids, err := u.GroupIds()
	if err != nil {
		return nil
	}
	var list []uint32
	for _, id := range ids {
		if gid, err := strconv.ParseUint(id, 10, 32); err == nil {
			list = append(list, uint32(gid))
		}
	}
	return list
}

// currentAccount returns the account that runs settle, by uid, because HOME and USER
// may be unset.
func currentAccount() account {
	if u, err := user.Current(); err == nil {
		return account{name: u.Username, home: u.HomeDir}
	}
	return account{name: strconv.Itoa(os.Geteuid()), home: "/"}
}
