package file

import (
	"strings"
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
	property string // "" for remains of a killed run, which have no cause to look for
	text     string // the change that acting makes
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
	outside  bool // the path is not as settle left it
	manifest bool // the declaration is not the one that settle applied last
}

// find returns the cause of one difference.
func (s *causes) find(c *comparison, d *difference) (found cause) {
	switch {
	case d.property == "" || s.last == nil:
	case s.recurse:
		found.outside = s.sameTree
	case d.property == propKind:
		return cause{s.last.kind != c.have.Kind, s.last.kind != c.kind}
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
		return cause{last.mode != c.have.Mode, last.mode != *c.mode}
	case d.property == propOwner && c.uid != nil:
		return cause{last.uid != c.have.UID, last.uid != *c.uid}
	case d.property == propGroup && c.gid != nil:
		return cause{last.gid != c.have.GID, last.gid != *c.gid}
	case d.property == propTarget && last.summed == sumTarget:
		sum := func(target string) string { return s.sumText(s.key, sumTarget, target) }
		return cause{last.sum != sum(c.have.Target), last.sum != sum(c.target)}
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

// describe returns in words what acting changes at one path, in the direction of
// the change, and then the causes of the differences, where they are known.
func (s *causes) describe(c *comparison) string {
	var changes []string
	var outside, source, manifest []string // the properties that each cause made differ
	for i := range c.differences {
		d := &c.differences[i]
		found := s.find(c, d)
		text := d.text
		if d.property == propContent && (found.outside || found.manifest) {
			text = propContent // the cause, which follows, says the rest
		}
		changes = append(changes, text)
		if found.outside {
			outside = append(outside, d.property)
		}
		switch {
		case !found.manifest:
		case d.property == propContent && s.last.summed == sumSource && s.source != "":
			source = append(source, d.property)
		default:
			manifest = append(manifest, d.property)
		}
	}
	var known []string
	for _, cause := range []struct {
		text       string
		properties []string
	}{{"changed outside", outside}, {"the source changed", source}, {"the manifest changed", manifest}} {
		switch len(cause.properties) {
		case 0:
		case len(changes):
			known = append(known, cause.text)
		default:
			known = append(known, cause.text+": "+strings.Join(cause.properties, ", "))
		}
	}
	text := strings.Join(changes, ", ")
	if len(known) > 0 {
		text += " (" + strings.Join(known, "; ") + ")"
	}
	return text
}
