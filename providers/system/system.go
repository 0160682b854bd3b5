// Package system builds the commands by which resource types ask and change the
// machine's own programs (systemctl, dpkg-query, apt-get …). These programs get
// a fixed environment, so that their output does not depend on the user's locale
// or PATH.
package system

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/settle-cm/settle/model"
)

// path lists the directories in which system programs are looked up.
var path = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// proxies lists the variables that pass through to system programs.
var proxies = []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}

// Programs builds commands for system programs. The zero value builds commands
// without a process tag. Programs must not be copied after its first use.
type Programs struct {
	Environ []string       // of settle itself; only the proxy variables are taken from it
	RunID   string         // first part of every process tag
	Grace   time.Duration  // between the first signal and KILL
	Redact  model.Redactor // nil when there are no secrets

	started atomic.Int64 // counts commands, for distinct process tags
}

// Command returns the command that runs argv with a clean environment, from the
// root directory, with extra variables (KEY=VALUE) added.
func (p *Programs) Command(argv []string, extra ...string) model.Command {
	tag := fmt.Sprintf("%s/system/%d", p.RunID, p.started.Add(1))
	env := []string{"PATH=" + strings.Join(path, ":"), "LC_ALL=C.UTF-8", "SETTLE_RUN_ID=" + tag}
	for _, variable := range p.Environ {
		if name, _, ok := strings.Cut(variable, "="); ok && slices.Contains(proxies, name) {
			env = append(env, variable)
		}
	}
	return model.Command{
		Argv: argv, Dir: "/", Env: append(env, extra...), Path: path,
		Grace: p.Grace, ProcessTag: tag, Redact: p.Redact,
	}
}
