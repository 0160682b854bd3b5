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

// defaultPath is where programs are looked for when nothing else says.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// runIDVariable marks every child, so that its descendants can be found.
const runIDVariable = "SETTLE_RUN_ID"

// account is who a command runs as.
type account struct {
	name, home, shell string
	credential        *model.Credential // nil: ourselves
}

// environ is an ordered environment: each key once.
type environ struct {
	keys   []string
	values map[string]string
}

func newEnviron(list []string) *environ {
	e := &environ{values: make(map[string]string, len(list)+8)}
	for _, kv := range list {
		if key, value, ok := strings.Cut(kv, "="); ok && key != "" {
			e.set(key, value)
		}
	}
	return e
}

func (e *environ) set(key, value string) {
	if _, ok := e.values[key]; !ok {
		e.keys = append(e.keys, key)
	}
	e.values[key] = value
}

func (e *environ) setDefault(key, value string) {
	if e.values[key] == "" && value != "" {
		e.set(key, value)
	}
}

func (e *environ) list() []string {
	list := make([]string, len(e.keys))
	for i, key := range e.keys {
		list[i] = key + "=" + e.values[key]
	}
	return list
}

// clean is the base of a clean environment: PATH and who we are, from a full one.
func clean(full *environ) *environ {
	e := newEnviron(nil)
	for _, key := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL"} {
		if value, ok := full.values[key]; ok {
			e.set(key, value)
		}
	}
	e.set("LANG", "C.UTF-8")
	if id, ok := full.values[runIDVariable]; ok {
		e.set(runIDVariable, id)
	}
	return e
}

// environment composes the child's environment, and the directories where its
// program is looked for (design.md, "Environment").
func (c *command) environment(who account, cwd, mark string) (env, path []string) {
	e := newEnviron(c.w.Environ)
	if c.w.CleanEnv || c.base.CleanEnv || c.base.CCM || who.credential != nil {
		e = clean(e)
	}
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
	if e.values["HOME"] == "" || e.values["USER"] == "" || e.values["LOGNAME"] == "" {
		me := self()
		e.setDefault("HOME", me.home)
		e.setDefault("USER", me.name)
		e.setDefault("LOGNAME", e.values["USER"])
	}
	e.set("PWD", cwd)
	id := mark
	if outer := e.values[runIDVariable]; outer != "" {
		id = outer + " " + mark
	}
	e.set(runIDVariable, id)
	for _, dir := range filepath.SplitList(e.values["PATH"]) {
		if filepath.IsAbs(dir) { // a bare name never means the current directory
			path = append(path, dir)
		}
	}
	return sorted(e), path
}

// sorted lists an environment in a fixed order, whatever map it came from.
func sorted(e *environ) []string {
	slices.Sort(e.keys)
	return e.list()
}

// self is who runs settle, by uid: also where no variable says so.
func self() account {
	if u, err := user.Current(); err == nil {
		return account{name: u.Username, home: u.HomeDir}
	}
	return account{name: strconv.Itoa(os.Geteuid()), home: "/"}
}
