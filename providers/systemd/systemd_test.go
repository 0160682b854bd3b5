package systemd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReadsOneBlockForEachUnit(t *testing.T) {
	const output = `Id=nginx.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
FragmentPath=/lib/systemd/system/nginx.service
Type=forking
RemainAfterExit=no
NeedDaemonReload=yes
CanReload=yes
CanStart=yes
RefuseManualStart=no
Result=success
ExecMainStatus=0
NRestarts=2
InvocationID=0123abcd

Id=once.service
LoadState=loaded
ActiveState=failed
SubState=failed
UnitFileState=static
FragmentPath=
Type=oneshot
RemainAfterExit=no
NeedDaemonReload=no
CanReload=no
CanStart=yes
RefuseManualStart=yes
Result=exit-code
ExecMainStatus=3
NRestarts=0
InvocationID=

Id=x.timer
LoadState=not-found
ActiveState=inactive
SubState=dead
`
	want := []Unit{
		{
			ID: "nginx.service", Load: "loaded", Active: "active", Sub: "running", File: "enabled",
			Fragment: "/lib/systemd/system/nginx.service", Result: "success", Restarts: 2, Invocation: "0123abcd",
			Stale: true, CanReload: true, CanStart: true,
		},
		{ID: "once.service", Load: "loaded", Active: "failed", Sub: "failed", File: "static", Result: "exit-code", ExitStatus: 3, Transient: true},
		{ID: "x.timer", Load: "not-found", Active: "inactive", Sub: "dead", CanStart: true},
	}
	if diff := cmp.Diff(want, Parse(output)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFirstLineDropsSystemctlsPrefix(t *testing.T) {
	for output, want := range map[string]string{
		"Failed to start x.service: Unit x.service not found.\nmore": "start x.service: Unit x.service not found",
		"Job for x.service failed.\n":                                "x.service failed",
		"":                                                           "systemctl gave no reason",
		"Unit x.service is masked.":                                  "Unit x.service is masked.",
	} {
		if got := firstLine(output); got != want {
			t.Errorf("firstLine(%q) is %q, want %q", output, got, want)
		}
	}
}
