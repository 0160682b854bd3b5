package manifests

import (
	"fmt"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
)

// claim notes what the next resource writes, and refuses what another one
// writes already: each would undo what the other does.
func (l *loader) claim(body *model.Body, id string) {
	n := len(l.ids)
	for _, c := range body.Claims {
		other, taken := l.claims[c.Path]
		if !taken {
			l.claims[c.Path] = n
			continue
		}
		if other == n {
			continue
		}
		first := &l.m.Resources[other]
		scope{l: l, id: id}.refuse(c.Pos, fmt.Sprintf("%s is written by %s at %s already", c.Path, l.ids[other], entry.Line(first.Pos)),
			"let one resource write it")
		return // one is enough to tell
	}
}
