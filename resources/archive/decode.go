package archive

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/download"
)

const formats = "settle reads tar, tar.gz, tgz, tar.bz2, tar.zst and zip"

// minSecret is the length from which a value is worth redacting everywhere.
const minSecret = 4

// decode turns the properties of one resource into an archive. It records every
// mistake in the body.
func (t *types) decode(b *model.Body) model.Spec {
	a := &archive{
		types: t, base: b.Base, absent: b.Text("ensure") == "absent", strip: b.Values["strip"].Int,
		purge: b.Bool("purge"), cleanup: b.Bool("cleanup"), owner: b.Text("owner"), group: b.Text("group"),
		sensitive: b.Bool("sensitive"), timeout: b.Duration("timeout"),
	}
	a.decodePaths(b)
	a.decodeRequest(b)
	a.decodeChecksum(b)
	a.decodeFormat(b)
	a.refuseConflicts(b)
	a.refusePlaces(b)
	a.claim(b)
	return a
}

func (a *archive) decodePaths(b *model.Body) {
	switch {
	case b.Has("path"):
		a.path = a.absolute(b, b.Values["path"], "path")
	case filepath.IsAbs(b.Name):
		a.path = filepath.Clean(b.Name)
	}
	if b.Has("extract_parent") {
		a.extract = a.absolute(b, b.Values["extract_parent"], "extract_parent")
	}
	for _, v := range b.Each("creates") {
		if path := a.absolute(b, v, "creates"); path != "" {
			a.creates = append(a.creates, path)
		}
	}
}

// absolute returns a clean path, relative to the manifest's directory.
func (a *archive) absolute(b *model.Body, v model.Value, property string) string {
	path := v.Text
	switch {
	case path == "":
		b.RefuseAt(v.Pos, property, "the path is empty", "drop it, or name a path")
		return ""
	case path == "~" || strings.HasPrefix(path, "~/"):
		b.RefuseAt(v.Pos, property, "~ is not expanded here", "write the home directory out")
		return ""
	case !filepath.IsAbs(path):
		path = filepath.Join(a.base.Dir, path)
	}
	return filepath.Clean(path)
}

// headerName matches what HTTP takes for the name of a header.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (a *archive) decodeRequest(b *model.Body) {
	a.request = download.Request{URL: b.Text("url"), Username: b.Text("username"), Password: b.Text("password")}
	switch {
	case b.Has("url"):
		if err := a.Download.Check(a.request.URL); err != nil {
			b.Refuse("url", err.Error(), model.SuggestionOf(err))
		}
	case !a.absent:
		b.Refuse("url", "url is missing", "say where the archive comes from")
	}
	authorized := false
	for _, h := range b.Values["headers"].Pairs {
		authorized = authorized || strings.EqualFold(h.Key, "Authorization")
		switch {
		case !headerName.MatchString(h.Key):
			b.RefuseAt(h.Pos, "headers", fmt.Sprintf("%q is no name of a header", h.Key), "write letters, digits and -")
		case strings.ContainsAny(h.Value.Text, "\r\n"):
			b.RefuseAt(h.Pos, "headers", "the value of "+h.Key+" has several lines", "write it on one line")
		}
		a.request.Headers = append(a.request.Headers, h)
		a.hide(b, h.Value.Text)
	}
	a.hide(b, a.request.Password)
	switch {
	case strings.Contains(a.request.Username, ":"):
		b.Refuse("username", "basic authentication has no user with a colon", "put the user and the password into username and password")
	case b.Has("password") && !b.Has("username"):
		b.Refuse("password", "a password needs a user", "set username")
	case b.Has("username") && authorized:
		b.Refuse("username", "the headers have an Authorization already", "drop one of them")
	}
}

// hide keeps a value out of everything that settle shows.
func (a *archive) hide(b *model.Body, value string) {
	if len(strings.TrimSpace(value)) >= minSecret {
		b.Secrets = append(b.Secrets, value)
	}
}

func (a *archive) decodeChecksum(b *model.Body) {
	if b.Has("checksum") {
		sum, err := download.ParseChecksum(b.Text("checksum"))
		if err != nil {
			b.Refuse("checksum", err.Error(), model.SuggestionOf(err))
		}
		a.request.Checksum = sum
		return
	}
	if strings.HasPrefix(strings.ToLower(a.request.URL), "http://") && !a.absent {
		b.Warn("url", "http without a checksum: any host on the way can replace the archive", "set checksum, or use https")
	}
}

// decodeFormat finds the format: that of path, else that of url.
func (a *archive) decodeFormat(b *model.Body) {
	address, _, _ := strings.Cut(a.request.URL, "?")
	address, _, _ = strings.Cut(address, "#")
	ofURL, ofPath := a.Format(address), a.Format(a.path)
	if a.format = ofPath; a.path == "" || ofPath == "" {
		a.format = ofURL
	}
	if a.absent {
		return
	}
	if ofURL != "" && ofPath != "" && ofURL != ofPath {
		b.Refuse("path", fmt.Sprintf("its name says %s, and that of the url %s", ofPath, ofURL), "give both the same ending")
		return
	}
	if a.extract != "" && a.format == "" && b.Has("url") {
		b.Refuse("extract_parent", "the format of the archive is not known by its name", "unpack it with an exec: "+formats)
	}
}

// refuseConflicts refuses combinations of properties that have no meaning.
func (a *archive) refuseConflicts(b *model.Body) {
	if a.absent {
		if a.path == "" {
			b.Refuse("ensure", "ensure: absent removes the archive at path, and there is none", "set path")
		}
		return
	}
	if a.strip < 0 {
		b.Refuse("strip", "strip cannot be negative", "write how many leading elements are dropped")
	}
	if a.extract == "" && !b.Has("extract_parent") {
		for _, property := range []string{"strip", "purge", "creates", "cleanup"} {
			if v, ok := b.Values[property]; ok && !v.Default {
				b.Refuse(property, property+" means nothing without extract_parent", "set extract_parent")
			}
		}
		if a.path == "" && !b.Has("path") {
			b.Refuse("", "the archive is neither kept nor unpacked", "set path, extract_parent or both")
		}
		return
	}
	switch {
	case a.cleanup && a.path == "":
		b.Refuse("cleanup", "cleanup removes the archive at path, and there is none", "drop cleanup")
	case a.cleanup && len(a.creates) == 0:
		b.Refuse("cleanup", "after cleanup only creates shows that the archive was unpacked", "set creates")
	}
}

// refusePlaces refuses paths that an archive must not take.
func (a *archive) refusePlaces(b *model.Body) {
	property := "path"
	if !b.Has("path") {
		property = ""
	}
	if a.path != "" && a.path == filepath.Dir(a.path) {
		b.Refuse(property, a.path+" is a directory", "name the file")
	}
	for _, place := range []struct{ property, path string }{{property, a.path}, {"extract_parent", a.extract}} {
		if place.path != "" && isWithin(place.path, a.StateDir) {
			b.Refuse(place.property, place.path+" is in the state directory of settle", "choose another place")
		}
	}
	if a.extract == "" {
		return
	}
	switch {
	case a.path == a.extract:
		b.Refuse("extract_parent", "path is the same", "unpack into a directory of its own")
	case !a.purge:
	case a.extract == filepath.Dir(a.extract):
		b.Refuse("purge", "purge would remove everything in "+a.extract, "name a directory that is the archive's alone")
	case a.StateDir != "" && isWithin(a.StateDir, a.extract):
		b.Refuse("purge", "purge would remove the state directory of settle in "+a.extract, "name a directory that is the archive's alone")
	case a.path != "" && isWithin(a.path, a.extract):
		b.Refuse("purge", "purge would remove the archive itself, which is kept in "+a.extract, "keep it elsewhere")
	case isWithin(a.base.Dir, a.extract):
		b.Refuse("purge", "purge would remove the manifest, which is in "+a.extract, "name a directory that is the archive's alone")
	}
}

// isWithin reports whether a path is a directory or inside of it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && dir != "" && path != "" && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// claim tells the loader which paths the resource writes.
func (a *archive) claim(b *model.Body) {
	if a.path != "" {
		b.ClaimPath("path", a.path)
	}
	if a.extract == "" || a.absent {
		return
	}
	if a.purge {
		b.ClaimPath("extract_parent", a.extract)
	}
	if a.extract != filepath.Dir(a.extract) { // everything is below the root
		b.Occupied = model.OccupiedPath{Path: a.extract, Whole: a.purge}
	}
}
