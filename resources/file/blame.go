package file

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model/disk"
)

// What of a path may differ.
const (
	kindOf    = "kind"
	contentOf = "content"
	targetOf  = "target"
	ownerOf   = "owner"
	groupOf   = "group"
	modeOf    = "mode"
)

// difference is one thing that differs between a path and what is declared of it.
type difference struct {
	of         string // what; "" when it is nobody's doing
	have, want string // for people; "" where that would be too long
	text       string // all of it, as it is told when no one knows who made it
}

// became words how the thing became what it is there. was is how it was, ""
// where that is not known.
func (d *difference) became(was string) string {
	switch missing := disk.Missing.String(); {
	case d.of == kindOf && d.have == missing:
		return d.have
	case d.of == kindOf && was == missing:
		return d.have + " is there"
	}
	return d.change(was, d.have)
}

// change words the thing as a change from one text to another.
func (d *difference) change(from, to string) string {
	switch {
	case from == "" || to == "":
		return d.of
	case d.of == kindOf:
		return from + " → " + to
	}
	return d.of + " " + from + " → " + to
}

// witness knows how a file was left, and so who made it differ.
type witness struct {
	*file
	key  []byte
	past *past // nil: no one knows
	tree bool  // what is declared of a tree is what it was left as: all that differs was changed outside
}

func (f *file) witness(last string) *witness {
	w := &witness{file: f}
	if last == "" {
		return w
	}
	w.key = f.w.Key(false)
	w.past = f.recall(w.key, last)
	if w.past != nil && f.recurse {
		_, sum, err := f.sumDeclared(w.key)
		w.tree = err == nil && sum != "" && w.past.of == ofTree && w.past.sum == sum
	}
	return w
}

// verdict is who made a difference: both may have.
type verdict struct {
	outside  bool   // it is not as it was left
	manifest bool   // what is declared is not what it was left as
	was      string // how it was left, for people; "" where that is not known
}

// judge finds out who made a difference. Nobody, when no one knows.
func (w *witness) judge(g *gap, d *difference) (v verdict) {
	switch {
	case d.of == "" || w.past == nil:
	case w.recurse:
		v.outside = w.tree
	case d.of == kindOf:
		return verdict{w.past.kind != g.have.Kind, w.past.kind != g.kind, w.past.kind.String()}
	case w.past.kind == g.kind:
		return w.judgePart(g, d)
	}
	return v
}

// judgePart is for what differs of something that was left as the kind that it
// is to be now.
func (w *witness) judgePart(g *gap, d *difference) (v verdict) {
	past := w.past
	switch {
	case d.of == modeOf:
		return verdict{past.mode != g.have.Mode, past.mode != *g.mode, fmt.Sprintf("%04o", past.mode)}
	case d.of == ownerOf && g.uid != nil:
		return verdict{past.uid != g.have.UID, past.uid != *g.uid, userName(past.uid)}
	case d.of == groupOf && g.gid != nil:
		return verdict{past.gid != g.have.GID, past.gid != *g.gid, groupName(past.gid)}
	case d.of == targetOf && past.of == ofTarget:
		sum := func(target string) string { return w.sumOfText(w.key, ofTarget, target) }
		return verdict{past.sum != sum(g.have.Target), past.sum != sum(g.target), ""}
	case d.of == contentOf && (past.of == ofContent || past.of == ofSource):
		return w.judgeContent(g)
	}
	return v
}

func (w *witness) judgeContent(g *gap) (v verdict) {
	want, size, err := g.reader()
	if err != nil {
		return v // who acts will meet it again
	}
	defer want.Close()
	have, err := w.w.Disk.Open(g.path)
	if err != nil {
		return v
	}
	defer have.Close()
	var now, next string // "" for what is too large to be as it was left
	if g.have.Size <= sumBytes {
		if now, err = w.sumOf(w.key, w.past.of, have); err != nil {
			return v
		}
	}
	if size <= sumBytes {
		if next, err = w.sumOf(w.key, w.past.of, want); err != nil {
			return v
		}
	}
	return verdict{outside: now != w.past.sum, manifest: next != w.past.sum}
}

// tell words what differs at one path, and where it is known by whose doing.
func (w *witness) tell(g *gap) string {
	var plain, outside, source, manifest []string
	for i := range g.says {
		d := &g.says[i]
		v := w.judge(g, d)
		if !v.outside && !v.manifest {
			plain = append(plain, d.text)
			continue
		}
		if v.outside {
			was := v.was
			if !v.manifest {
				was = d.want
			}
			outside = append(outside, d.became(was))
		}
		if v.manifest {
			was := cmp.Or(v.was, d.have)
			if !v.outside {
				was = d.have
			}
			if d.of == contentOf && w.past.of == ofSource && w.source != "" {
				source = append(source, d.of)
			} else {
				manifest = append(manifest, d.change(was, d.want))
			}
		}
	}
	var told []string
	for _, part := range []struct {
		who  string
		what []string
	}{{"", plain}, {"changed outside: ", outside}, {"the source changed: ", source}, {"the manifest changed: ", manifest}} {
		if len(part.what) > 0 {
			told = append(told, part.who+strings.Join(part.what, ", "))
		}
	}
	return strings.Join(told, "; ")
}
