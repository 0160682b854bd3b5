package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model/disk"
)

// noSum takes the place of a sum in the text of a LastState that has none.
const noSum = "-"

// lastState is the state of a path after settle last applied its resource.
type lastState struct {
	kind        disk.Kind
	mode        uint32
	uid, gid    uint32
	summed, sum string // which content the sum is of, and the sum; "" for no sum
}

// errDiffers reports that a path differs right after Run changed it: another
// program changes it too, or its file system cannot keep the declared state.
var errDiffers = errors.New("it differs")

// lastStateText returns the LastState of the resource as one short text: the sum
// of its path, its kind, mode, owner and group, and the sum of its declared
// content. It returns "" when the path is not as declared, so that a later run
// never takes the work of another program for settle's own.
func (f *file) lastStateText(ctx context.Context) string {
	key := f.w.Key(true)
	if key == nil {
		return ""
	}
	// sum first: a source that changes from now on makes a difference below
	summed, sum, err := f.sumDeclared(key)
	if err != nil || f.recurse && sum == "" {
		return ""
	}
	var s lastState
	err = f.visit(func(p desired) error {
		if sum == "" {
			p.content, p.source = nil, ""
		}
		c, err := f.compare(ctx, p)
		switch {
		case err != nil:
			return err
		case c.differs():
			return errDiffers
		case p.path == f.path:
			s = lastState{kind: c.have.Kind, mode: c.have.Mode, uid: c.have.UID, gid: c.have.GID}
		}
		return nil
	})
	if err != nil {
		return ""
	}
	if sum == "" {
		summed, sum = noSum, noSum
	}
	return fmt.Sprintf("%s %d %o %d %d %s %s", f.sumPath(key), s.kind, s.mode, s.uid, s.gid, summed, sum)
}

// parseLastState reads a text of lastStateText. It returns nil for an empty
// text, for the text of another path, and when the key is gone.
func (f *file) parseLastState(key []byte, text string) *lastState {
	path, rest, _ := strings.Cut(text, " ")
	if key == nil || path != f.sumPath(key) {
		return nil
	}
	var s lastState
	if _, err := fmt.Sscanf(rest, "%d %o %d %d %s %s", &s.kind, &s.mode, &s.uid, &s.gid, &s.summed, &s.sum); err != nil {
		return nil
	}
	if s.sum == noSum {
		s.summed, s.sum = "", ""
	}
	return &s
}
