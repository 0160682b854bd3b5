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

// TestAnotherUserNeedsRoot: what needs root is refused when it would start, not when
// anyone may look.
func TestAnotherUserNeedsRoot(t *testing.T) {
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
	for _, tt := range tests {
		r := &runner{ends: exits(1)}
		values := maps.Clone(common)
		maps.Copy(values, tt.values)
		spec := declare(t, options(r), values)
		d, err := spec.Check(t.Context(), tt.ask)
		if errors.Is(err, model.ErrNotPermitted) != tt.denied || err != nil && !tt.denied || d.Act != tt.act || len(d.Unread) != tt.unread {
			t.Errorf("%s: %+v, %v", tt.name, d, err)
		}
		if _, err := spec.Run(t.Context(), model.Stage{}); !errors.Is(err, model.ErrNotPermitted) || len(r.commands) > 0 {
			t.Errorf("%s: run: %v, started %d", tt.name, err, len(r.commands))
		}
	}
}
