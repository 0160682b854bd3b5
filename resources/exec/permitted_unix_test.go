//go:build linux || darwin

package exec

import (
	"errors"
	"maps"
	"os"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

// A command that needs root is refused when it would start. A plan that starts
// nothing works for every user.
func TestCommandAsAnotherUserNeedsRoot(t *testing.T) {
	tests := []struct {
		name   string
		values map[string]model.Value
		ask    model.Ask
		act    bool
		unread int
		denied bool
	}{
		{name: "a guard", values: map[string]model.Value{"unless": text("g")}, denied: true},
		{name: "a guard that is not to be run", values: map[string]model.Value{"unless": text("g")}, ask: model.Ask{SkipGuards: true}, act: true, unread: 1},
		{name: "creates alone", values: map[string]model.Value{"creates": text("/no/such")}, act: true},
		{name: "creates decide before a guard", values: map[string]model.Value{"creates": text("/"), "unless": text("g")}},
		{name: "nothing to look at", act: true},
	}
	common := map[string]model.Value{"command": text("c"), "user": text("root")}
	// The other user may not be able to write in TMPDIR, so all is declared before.
	runners, specs := make([]*runner, len(tests)), make([]model.Spec, len(tests))
	for i, tt := range tests {
		values := maps.Clone(common)
		maps.Copy(values, tt.values)
		runners[i] = &runner{ends: exits(1)}
		specs[i] = declare(t, options(runners[i]), values)
	}
	if os.Geteuid() == 0 {
		if err := syscall.Seteuid(65534); err != nil {
			t.Skip(err)
		}
		defer func() {
			if err := syscall.Seteuid(0); err != nil {
				t.Fatal(err)
			}
		}()
	}
	for i, tt := range tests {
		r, spec := runners[i], specs[i]
		d, err := spec.Check(t.Context(), tt.ask)
		if errors.Is(err, model.ErrNotPermitted) != tt.denied || err != nil && !tt.denied || d.Act != tt.act || len(d.Unread) != tt.unread {
			t.Errorf("%s: %+v, %v", tt.name, d, err)
		}
		if _, err := spec.Run(t.Context(), model.Stage{}); !errors.Is(err, model.ErrNotPermitted) || len(r.commands) > 0 {
			t.Errorf("%s: run: %v, started %d", tt.name, err, len(r.commands))
		}
	}
}
