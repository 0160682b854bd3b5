package system

import (
	"slices"
	"testing"

	"github.com/settle-cm/settle/model"
)

func TestCommandHasFixedEnvironmentAndProxies(t *testing.T) {
	child := func(argv []string) model.Command {
		return model.Command{Argv: argv, Dir: "/home/me", ProcessTag: "r1/7", Env: []string{
			"LANG=de_DE.UTF-8", "NO_PROXY=localhost", "PATH=/home/me/bin", "SETTLE_RUN_ID=r1/7", "https_proxy=http://proxy:3128",
		}}
	}
	c := Commands(child)([]string{"apt-get", "update"}, "DEBIAN_FRONTEND=noninteractive")
	want := []string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "NO_PROXY=localhost", "SETTLE_RUN_ID=r1/7",
		"https_proxy=http://proxy:3128", "DEBIAN_FRONTEND=noninteractive",
	}
	if !slices.Equal(c.Env, want) {
		t.Errorf("environment is %q, want %q", c.Env, want)
	}
	if c.Dir != "/" || c.ProcessTag != "r1/7" || !slices.Equal(c.Path, path) {
		t.Errorf("dir %q, tag %q, path %q", c.Dir, c.ProcessTag, c.Path)
	}
}
