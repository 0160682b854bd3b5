package file

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model/disk"
)

// The properties of a path that can differ.
const (
	propKind    = "kind"
	propContent = "content"
	propTarget  = "target"
	propOwner   = "owner"
	propGroup   = "group"
	propMode    = "mode"
)

// difference is one property that differs between a path and its declaration.
type difference struct {
	property   string // "" for remains of a killed run, which have no cause to look for
	have, want string // for people; "" where that would be too long
	text       string // the whole sentence when the cause is unknown
}

// describeDrift describes the value that the path has now as a change from the
// value of the last apply. The last value is "" when it is unknown.
func (d *difference) describeDrift(last string) string {
	switch missing := disk.Missing.String(); {
	case d.property == propKind && d.have == missing:
		return d.have
	case d.property == propKind && last == missing:
		return d.have + " is there"
	}
	return d.describeChange(last, d.have)
}

// describeChange describes a change of the property from one text to another.
func (d *difference) describeChange(from, to string) string {
	switch {
	case from == "" || to == "":
		return d.property
	case d.property == propKind:
		return from + " → " + to
	}
	return d.property + " " + from + " → " + to
}

// causes finds the causes of differences: it compares a path and its
// declaration with the LastState of the resource.
type causes struct {
	*file
	key  []byte
	last *lastState // nil: unknown
	// sameTree is set when the declaration of a tree equals that of the last
	// apply. Every difference in the tree was then made outside of settle.
	sameTree bool
}

func (f *file) causes(text string) *causes {
	c := &causes{file: f}
	if text == "" {
		return c
	}
	c.key = f.w.Key(false)
	c.last = f.parseLastState(c.key, text)
	if c.last != nil && f.recurse {
		_, sum, err := f.sumDeclared(c.key)
		c.sameTree = err == nil && sum != "" && c.last.summed == sumTree && c.last.sum == sum
	}
	return c
}

// cause says who made a difference. Both can be true, and both are false when
// the cause is unknown.
type cause struct {
	outside  bool   // the path is not as settle left it
	manifest bool   // the declaration is not the one that settle applied last
	last     string // the value of the last apply, for people; "" when unknown
}

// find returns the cause of one difference.
func (s *causes) find(c *comparison, d *difference) (found cause) {
	switch {
	case d.property == "" || s.last == nil:
	case s.recurse:
		found.outside = s.sameTree
	case d.property == propKind:
		return cause{s.last.kind != c.have.Kind, s.last.kind != c.kind, s.last.kind.String()}
	case s.last.kind == c.kind:
		return s.findOfProperty(c, d)
	}
	return found
}

// findOfProperty is find for a path that had the declared kind after the last apply.
func (s *causes) findOfProperty(c *comparison, d *difference) (found cause) {
	last := s.last
	switch {
	case d.property == propMode:
		return cause{last.mode != c.have.Mode, last.mode != *c.mode, fmt.Sprintf("%04o", last.mode)}
	case d.property == propOwner && c.uid != nil:
		return cause{last.uid != c.have.UID, last.uid != *c.uid, userName(last.uid)}
	case d.property == propGroup && c.gid != nil:
		return cause{last.gid != c.have.GID, last.gid != *c.gid, groupName(last.gid)}
	case d.property == propTarget && last.summed == sumTarget:
		sum := func(target string) string { return s.sumText(s.key, sumTarget, target) }
		return cause{last.sum != sum(c.have.Target), last.sum != sum(c.target), ""}
	case d.property == propContent && (last.summed == sumContent || last.summed == sumSource):
		return s.findOfContent(c)
	}
	return found
}

func (s *causes) findOfContent(c *comparison) (found cause) {
	want, size, err := c.open()
	if err != nil {
		return found // Run opens it again and reports the error
	}
	defer want.Close()
	have, err := s.w.Disk.Open(c.path)
	if err != nil {
		return found
	}
	defer have.Close()
	// a file above sumBytes was never summed, so it differs from the last apply
	var haveSum, wantSum string
	if c.have.Size <= sumBytes {
		if haveSum, err = s.sumReader(s.key, s.last.summed, have); err != nil {
			return found
		}
	}
	if size <= sumBytes {
		if wantSum, err = s.sumReader(s.key, s.last.summed, want); err != nil {
			return found
		}
	}
	return cause{outside: haveSum != s.last.sum, manifest: wantSum != s.last.sum}
}

// describe returns the differences of one path in words, grouped by their cause.
func (s *causes) describe(c *comparison) string {
	var unknown, outside, source, manifest []string
	for i := range c.differences {
		d := &c.differences[i]
		found := s.find(c, d)
		if !found.outside && !found.manifest {
			unknown = append(unknown, d.text)
			continue
		}
		if found.outside {
			last := found.last
			if !found.manifest {
				last = d.want
			}
			outside = append(outside, d.describeDrift(last))
		}
		if found.manifest {
			last := cmp.Or(found.last, d.have)
			if !found.outside {
				last = d.have
			}
			if d.property == propContent && s.last.summed == sumSource && s.source != "" {
				source = append(source, d.property)
			} else {
				manifest = append(manifest, d.describeChange(last, d.want))
			}
		}
	}
	var groups []string
	for _, group := range []struct {
		prefix string
		texts  []string
	}{{"", unknown}, {"changed outside: ", outside}, {"the source changed: ", source}, {"the manifest changed: ", manifest}} {
		if len(group.texts) > 0 {
			groups = append(groups, group.prefix+strings.Join(group.texts, ", "))
		}
	}
	return strings.Join(groups, "; ")
}
