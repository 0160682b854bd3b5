package exec

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
)

// defaultPath is the PATH of a command when nothing else sets it.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// runIDVariable holds the ProcessTag of every child, which its descendants inherit.
const runIDVariable = "SETTLE_RUN_ID"

// account is the account that a command runs as.
type account struct {
	name, home, shell string
	credential        *model.Credential // nil: the account that runs settle
}

// environ is an environment: KEY=VALUE, sorted by key, each key once. A sorted
// list is cheap to copy, and every process needs a copy.
type environ []string

func newEnviron(list []string) environ {
	e := make(environ, 0, len(list))
	for _, kv := range list {
		if key, value, ok := strings.Cut(kv, "="); ok && key != "" {
			e.set(key, value)
		}
	}
	return e
}

func (e environ) find(key string) (int, bool) {
	return slices.BinarySearchFunc(e, key, func(kv, key string) int {
		k, _, _ := strings.Cut(kv, "=")
		return strings.Compare(k, key)
	})
}

// get returns the value of a variable, "" when it is not set.
func (e environ) get(key string) string {
	i, ok := e.find(key)
	if !ok {
		return ""
	}
	return e[i][len(key)+1:]
}

func (e *environ) set(key, value string) {
	i, ok := e.find(key)
	if !ok {
		*e = slices.Insert(*e, i, "")
	}
	(*e)[i] = key + "=" + value
}

func (e *environ) setDefault(key, value string) {
	if e.get(key) == "" && value != "" {
		e.set(key, value)
	}
}

// clean returns the clean part of a full environment: PATH and the account.
func clean(full environ) environ {
	var e environ
	for _, key := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", runIDVariable} {
		if i, ok := full.find(key); ok {
			e.set(key, full[i][len(key)+1:])
		}
	}
	e.set("LANG", "C.UTF-8")
	return e
}

// environment returns the child's environment, and the directories in which its
// program is looked for (cmd/settle/docs/deciding.md, "How a command runs").
func (c *command) environment(who account, cwd, tag string) (env, path []string) {
	base := c.w.Commands.full
	if c.w.Commands.CleanEnv || c.base.CleanEnv || c.base.CCM || who.credential != nil {
		base = c.w.Commands.clean
	}
	const own = 8 // variables that settle adds
	e := append(make(environ, 0, len(base)+len(c.env)+own), base...)
	if who.credential != nil {
		for key, value := range map[string]string{"HOME": who.home, "USER": who.name, "LOGNAME": who.name, "SHELL": who.shell} {
			e.set(key, value)
		}
		e.set("PATH", defaultPath)
	}
	for _, p := range c.env {
		e.set(p.key, p.value)
	}
	if len(c.path) > 0 {
		e.set("PATH", strings.Join(c.path, ":"))
	}
	e.setDefault("PATH", defaultPath)
	if e.get("HOME") == "" || e.get("USER") == "" || e.get("LOGNAME") == "" {
		me := currentAccount()
		e.setDefault("HOME", me.home)
		e.setDefault("USER", me.name)
		e.setDefault("LOGNAME", e.get("USER"))
	}
	e.set("PWD", cwd)
	id := tag
	if outer := e.get(runIDVariable); outer != "" {
		id = outer + " " + tag
	}
	e.set(runIDVariable, id)
	return e, filepath.SplitList(e.get("PATH"))
}

// currentAccount returns the account that runs settle, by uid, because HOME and USER
// may be unset.
func currentAccount() account {
	if u, err := user.Current(); err == nil {
		return account{name: u.Username, home: u.HomeDir}
	}
	return account{name: strconv.Itoa(os.Geteuid()), home: "/"}
}
