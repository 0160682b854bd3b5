// Package system adapts child commands to the machine's own programs (systemctl,
// dpkg-query, apt-get …): they get a fixed environment, so that their output does
// not depend on the user's locale or PATH. It also tells which service manager runs.
package system

import (
	"slices"
	"strings"

	"github.com/settle-cm/settle/model"
)

// path lists the directories in which system programs are looked up.
var path = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// inherited lists the variables that a system program keeps: those that a proxy
// needs, and the tag by which its descendants are recognised.
var inherited = []string{"SETTLE_RUN_ID", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}

// Commands returns a builder of commands for system programs. It takes a command
// from child, and replaces its environment and search path. Extra variables
// (KEY=VALUE) are added to the environment.
func Commands(child func(argv []string) model.Command) func(argv []string, extra ...string) model.Command {
	return func(argv []string, extra ...string) model.Command {
		c := child(argv)
		env := []string{"PATH=" + strings.Join(path, ":"), "LC_ALL=C.UTF-8"}
		for _, variable := range c.Env {
			if name, _, ok := strings.Cut(variable, "="); ok && slices.Contains(inherited, name) {
				env = append(env, variable)
			}
		}
		c.Env, c.Path, c.Dir = append(env, extra...), path, "/"
		return c
	}
}
