package system

import (
	"slices"
	"testing"
)

func TestCommandHasFixedEnvironmentAndProxies(t *testing.T) {
	p := Programs{RunID: "r1", Environ: []string{"LANG=de_DE.UTF-8", "PATH=/home/me/bin", "https_proxy=http://proxy:3128", "NO_PROXY=localhost", "broken"}}
	c := p.Command([]string{"apt-get", "update"}, "DEBIAN_FRONTEND=noninteractive")
	want := []string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SETTLE_RUN_ID=r1/system/1",
		"https_proxy=http://proxy:3128", "NO_PROXY=localhost", "DEBIAN_FRONTEND=noninteractive",
	}
	if !slices.Equal(c.Env, want) {
		t.Errorf("environment is %q, want %q", c.Env, want)
	}
	if c.Dir != "/" || c.ProcessTag != "r1/system/1" {
		t.Errorf("dir %q and tag %q, want / and r1/system/1", c.Dir, c.ProcessTag)
	}
}

func TestEveryCommandHasItsOwnTag(t *testing.T) {
	var p Programs
	if first, second := p.Command(nil).ProcessTag, p.Command(nil).ProcessTag; first == second {
		t.Errorf("both commands have the tag %q", first)
	}
}
