//go:build unix

package journal

import (
	"errors"
	"slices"
	"testing"

	"github.com/settle-cm/settle/model"
)

// Who comes just when a resource has started is told of it all the same.
func TestHeldNamesANewResource(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Alive = func(model.Process) bool { return true }
	j := locked(t, s, "r1")
	j.Started("exec#slow")
	_, err := s.Lock(t.Context(), 0, Holder{Run: "r2"})
	var held *Held
	if !errors.As(err, &held) || !slices.Equal(held.Running, []string{"exec#slow"}) {
		t.Error(err)
	}
	closed(t, j)
}
