package file

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model/disk"
)

// The bounds of what force removes, as it is listed.
const (
	maxLossNamed  = 5    // paths in the reason
	maxLossListed = 1000 // paths in the diff
)

// losses lists the entries that force removes, or replaces by another kind. They
// are named before everything else, because no later apply brings them back.
type losses struct {
	named  []string // in words, for the reason
	listed []string // lines of the diff
	count  int
}

// addLoss adds the entry at a path when the change removes a directory, or puts an
// entry of another kind in a tree.
func (f *file) addLoss(l *losses, c *comparison) error {
	isLost := c.have.Kind == disk.Directory || f.recurse && c.have.Kind != disk.Missing
	if !(c.remove || c.replace) || c.have.Kind == c.kind || !isLost {
		return nil
	}
	text := c.path
	if rel, err := filepath.Rel(f.path, c.path); err == nil && filepath.IsLocal(rel) && f.recurse {
		text = rel
	}
	text += " (" + c.have.Kind.String()
	var paths []string
	below := 0
	if c.have.Kind == disk.Directory {
		var err error
		if paths, below, err = f.w.Disk.Contents(c.path, maxLossListed); err != nil {
			return err
		}
		text += fmt.Sprintf(" with %d %s below it", below, plural(below, "entry", "entries"))
	}
	l.count++
	if len(l.named) < maxLossNamed {
		l.named = append(l.named, text+")")
	}
	for _, path := range append([]string{c.path}, paths...) {
		if len(l.listed) < maxLossListed {
			l.listed = append(l.listed, fmt.Sprintf("removed: %q\n", path))
		}
	}
	if below > len(paths) {
		l.listed = append(l.listed, fmt.Sprintf("… and %d more below %q\n", below-len(paths), c.path))
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// reason returns the losses in words, or "".
func (l *losses) reason() string {
	if l.count == 0 {
		return ""
	}
	text := "removes " + strings.Join(l.named, ", ")
	if more := l.count - len(l.named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// diff returns the losses as lines in front of a diff.
func (l *losses) diff() string { return strings.Join(l.listed, "") }
