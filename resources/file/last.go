package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model/disk"
)

// noSum stands where nothing is remembered of what is in a file.
const noSum = "-"

// past is how a file was left when it was last made as it is declared.
type past struct {
	kind     disk.Kind
	mode     uint32
	uid, gid uint32
	of, sum  string // of what is in it; "" for none
}

// errDiffers is that a file is not as declared although it was just made so:
// somebody else changes it, or its file system cannot keep what is declared.
var errDiffers = errors.New("it differs")

// leave says how a file is left, in one short text: the sum of its path, what
// it is, its mode, owner and group, and the sum of what is declared to be in it.
// It is "" when the file is not as declared, so that a text never says of
// anything but what settle has left that settle has.
func (f *file) leave(ctx context.Context) string {
	key := f.w.Key(true)
	if key == nil {
		return ""
	}
	of, sum, err := f.sumDeclared(key) // before it is compared: a source that changes from now on makes a difference
	if err != nil || f.recurse && sum == "" {
		return ""
	}
	var p past
	err = f.parts(func(part part) error {
		if sum == "" {
			part.content, part.source = nil, ""
		}
		g, err := f.compare(ctx, part)
		switch {
		case err != nil:
			return err
		case g.differs():
			return errDiffers
		case part.path == f.path:
			p = past{kind: g.have.Kind, mode: g.have.Mode, uid: g.have.UID, gid: g.have.GID}
		}
		return nil
	})
	if err != nil {
		return ""
	}
	if sum == "" {
		of, sum = noSum, noSum
	}
	return fmt.Sprintf("%s %d %o %d %d %s %s", f.tag(key), p.kind, p.mode, p.uid, p.gid, of, sum)
}

// recall reads what leave said: nil when that is nothing, when it is of another
// path, or its key is gone.
func (f *file) recall(key []byte, last string) *past {
	tag, rest, _ := strings.Cut(last, " ")
	if key == nil || tag != f.tag(key) {
		return nil
	}
	var p past
	if _, err := fmt.Sscanf(rest, "%d %o %d %d %s %s", &p.kind, &p.mode, &p.uid, &p.gid, &p.of, &p.sum); err != nil {
		return nil
	}
	if p.sum == noSum {
		p.of, p.sum = "", ""
	}
	return &p
}
