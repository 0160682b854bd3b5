package exec

import (
	"path/filepath"
	"strings"
)

// defaultPath is the PATH of a command when nothing else sets it.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ccmPath is the PATH of a command in a CCM manifest, as CCM sets it.
const ccmPath = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin"

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
	if c.base.CCM {
		e.set("PATH", ccmPath)
		e.set("LANG", "C")
		e.set("LC_ALL", "C")
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
