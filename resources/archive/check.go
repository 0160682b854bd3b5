package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/model/download"
)

// view is the state that was found, with the changes that are due.
type view struct {
	last     *lastState
	kept     disk.State // at path
	keptSum  string     // of the file at path, "" when it was not needed
	tree     disk.State // at extract_parent
	reasons  []string
	note     string // of a resource for which nothing is due
	created  bool   // something was missing
	remove   bool
	fetch    bool // the archive at path is missing, or is another one
	unpack   bool
	adjust   bool // owner or group of the archive at path
	uid, gid *uint32
	unknown  error // declared users or groups that do not exist
}

func (v *view) due() bool { return v.remove || v.fetch || v.unpack || v.adjust }

// Check compares files and checksums. It uses no network, and it reads a kept
// archive only when the file is not the one that the last run saw.
func (a *archive) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	d := model.Decision{Read: []string{a.decidingProperty()}}
	v, err := a.look(ctx, ask.LastState, ask.Unfinished)
	if err != nil {
		return d, err
	}
	if !v.due() {
		d.Reason = v.note
		return d, nil
	}
	d.Act, d.Reason, d.Action, d.Missing = true, strings.Join(v.reasons, "; "), model.ActionChange, v.unpack
	switch {
	case v.remove:
		d.Action = model.ActionRemove
	case v.created:
		d.Action = model.ActionCreate
	}
	d.Obstacles = a.obstacles(&v)
	return d, nil
}

// decidingProperty returns the name of the property that the decision rests on.
func (a *archive) decidingProperty() string {
	switch {
	case len(a.creates) > 0:
		return "creates"
	case a.extract != "" && !a.absent:
		return "extract_parent"
	}
	return "path"
}

// obstacles returns the reasons why acting would fail now.
func (a *archive) obstacles(v *view) []string {
	var list []string
	for _, place := range []struct {
		path string
		due  bool
	}{{a.path, v.remove || v.fetch || v.adjust}, {a.extract, v.unpack && v.tree.Kind == disk.Missing}} {
		if place.path == "" || !place.due {
			continue
		}
		if err := a.Disk.Obstacle(place.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, err.Error())
		}
	}
	if v.unknown != nil {
		list = append(list, v.unknown.Error())
	}
	return list
}

// look finds the changes that are due.
func (a *archive) look(ctx context.Context, last, unfinished string) (view, error) {
	v := view{last: parseLastState(last), note: "as declared"}
	if a.path != "" {
		var err error
		if v.kept, err = a.Disk.Look(a.path); err != nil {
			return v, err
		}
	}
	if a.absent {
		return v, a.lookAbsent(&v)
	}
	a.findOwners(&v)
	if a.path != "" && v.kept.Kind != disk.Missing && v.kept.Kind != disk.Regular {
		return v, fmt.Errorf("%s is %s, and no archive: remove it", a.path, v.kept.Kind)
	}
	if a.keeps() {
		if err := a.lookKept(ctx, &v); err != nil {
			return v, err
		}
	}
	if a.extract == "" {
		return v, nil
	}
	return v, a.lookTree(&v, unfinished)
}

func (a *archive) lookAbsent(v *view) error {
	switch v.kept.Kind {
	case disk.Missing:
		v.note = "it is not there"
	case disk.Directory:
		return fmt.Errorf("%s is a directory, and no archive", a.path)
	default:
		v.remove, v.reasons = true, append(v.reasons, v.kept.Kind.String()+" is there")
	}
	return nil
}

// lookKept looks at the archive at path.
func (a *archive) lookKept(ctx context.Context, v *view) error {
	if v.kept.Kind == disk.Missing {
		v.fetch, v.created = true, true
		v.reasons = append(v.reasons, a.path+" is missing")
		return nil
	}
	declared := a.request.Checksum
	if declared.Hex != "" {
		sum, err := a.sumKept(ctx, v)
		if err != nil {
			return err
		}
		if !isSum(sum, declared) {
			v.fetch = true
			v.reasons = append(v.reasons, "checksum of "+a.path+" differs")
			return nil
		}
	}
	if v.uid != nil && *v.uid != v.kept.UID || v.gid != nil && *v.gid != v.kept.GID || v.unknown != nil {
		v.adjust = true
		v.reasons = append(v.reasons, "owner or group of "+a.path+" differs")
	}
	return nil
}

// sumKept returns the checksum of the file at path. It reads the file only when
// it is not the one that the last run saw.
func (a *archive) sumKept(ctx context.Context, v *view) (string, error) {
	declared := a.request.Checksum
	if l := v.last; l != nil && l.version == fileVersion(a.path, v.kept) && strings.HasPrefix(l.kept, declared.Algorithm+":") {
		v.keptSum = l.kept
		return l.kept, nil
	}
	sum, err := a.sum(ctx, a.path, declared)
	v.keptSum = sum.String()
	return v.keptSum, err
}

// sum reads a file and returns its checksum by the algorithm of another one.
func (a *archive) sum(ctx context.Context, path string, like download.Checksum) (download.Checksum, error) {
	r, err := a.Disk.Open(path)
	if err != nil {
		return download.Checksum{}, err
	}
	defer r.Close()
	h := like.New()
	const chunk = 8 << 20 // bytes between two looks for an interrupt
	for {
		_, err := io.CopyN(h, r, chunk)
		switch {
		case errors.Is(err, io.EOF):
			return like.Of(h), nil
		case err != nil:
			return download.Checksum{}, fmt.Errorf("read %s: %w", path, err)
		case ctx.Err() != nil:
			return download.Checksum{}, context.Cause(ctx)
		}
	}
}

// lookTree looks whether the archive has to be unpacked. The tree itself is not
// compared: it belongs to the programs that use it.
func (a *archive) lookTree(v *view, unfinished string) error {
	var err error
	if v.tree, err = a.Disk.Look(a.extract); err != nil {
		return err
	}
	if v.tree.Kind != disk.Missing && v.tree.Kind != disk.Directory {
		return fmt.Errorf("%s is %s, and no directory to unpack into", a.extract, v.tree.Kind)
	}
	missing, err := a.missing()
	if err != nil {
		return err
	}
	reason := ""
	switch {
	case unfinished != "":
		reason = "unpacking was not finished in run " + unfinished
	case v.tree.Remains != "":
		reason = "a killed run left " + v.tree.Remains
	case v.tree.Kind == disk.Missing:
		v.created, reason = true, a.extract+" is missing"
	case missing != "":
		v.created, reason = true, "creates "+missing+" is missing"
	case v.last == nil || v.last.unpacked == "":
		switch {
		case len(a.creates) == 0:
			reason = "nothing is known of an earlier unpacking"
		case v.due(): // then one and the same archive may as well be everywhere
			reason = "it is not known which archive creates " + a.creates[0] + " is from"
		default:
			v.note = "creates " + a.creates[0] + " exists; it is not known which archive it is from"
		}
	case v.last.place != a.placeTag():
		reason = "extract_parent, strip, owner or group changed"
	case a.request.Checksum.Hex != "" && !isSum(v.last.unpacked, a.request.Checksum):
		reason = "checksum changed"
	}
	if v.unpack = reason != ""; v.unpack {
		v.reasons = append(v.reasons, reason)
	}
	return nil
}

// missing returns the first path of creates that is missing.
func (a *archive) missing() (string, error) {
	for _, path := range a.creates {
		s, err := a.Disk.Look(path)
		if err != nil {
			return "", err
		}
		if s.Kind == disk.Missing {
			return path, nil
		}
	}
	return "", nil
}

// findOwners finds the ids of owner and group. They may be made by a resource that
// runs before, so a name that is missing is no error yet.
func (a *archive) findOwners(v *view) {
	find := func(name string, look func(string) (uint32, error)) *uint32 {
		if name == "" {
			return nil
		}
		id, err := look(name)
		if err != nil {
			v.unknown = errors.Join(v.unknown, err)
			return nil
		}
		return &id
	}
	v.uid, v.gid = find(a.owner, a.UID), find(a.group, a.GID)
}
