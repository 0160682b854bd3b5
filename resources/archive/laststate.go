package archive

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/model/download"
)

// lastState is what the journal keeps of the last run of an archive.
type lastState struct {
	place    string // fingerprint of where and how the archive was unpacked
	unpacked string // checksum of the archive that was unpacked, "" for none
	kept     string // checksum of the archive at path, "" for none
	version  string // of the file at path: it needs no reading while this is the same
}

// nothing takes the place of an empty field.
const nothing = "-"

func (l lastState) String() string {
	fields := []string{l.place, l.unpacked, l.kept, l.version}
	for i, f := range fields {
		if f == "" {
			fields[i] = nothing
		}
	}
	return strings.Join(fields, " ")
}

// parseLastState reads the text of String, nil for any other text.
func parseLastState(text string) *lastState {
	fields := strings.Fields(text)
	if len(fields) != 4 {
		return nil
	}
	for i, f := range fields {
		if f == nothing {
			fields[i] = ""
		}
	}
	return &lastState{place: fields[0], unpacked: fields[1], kept: fields[2], version: fields[3]}
}

// placeTag returns the fingerprint of everything but the archive that decides how
// the unpacked tree looks.
func (a *archive) placeTag() string {
	const length = 9
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", a.extract, a.strip, a.owner, a.group))
	return base64.RawURLEncoding.EncodeToString(sum[:length])
}

// fileVersion returns a text that changes with every change of a file.
func fileVersion(path string, s disk.State) string {
	const length = 6
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%s:%d:%d:%d", base64.RawURLEncoding.EncodeToString(sum[:length]), s.Inode, s.Size, s.Changed)
}

// isSum reports whether a remembered checksum is the declared one.
func isSum(remembered string, declared download.Checksum) bool {
	return remembered != "" && remembered == declared.String()
}
