package complete

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// listFiles offers the files whose names begin with text. Only bash needs it: its own
// completion of files can neither prefer manifests nor be mixed with other offers.
// Directories end with a slash.
func (c *Completer) listFiles(text string, kind Kind) []Offer {
	dir, base := filepath.Split(text)
	place := cmp.Or(ExpandHome(dir), ".")
	entries, err := os.ReadDir(place)
	if err != nil {
		return nil
	}
	var directories, preferred, others []Offer
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, base) || base == "" && name[0] == '.' {
			continue
		}
		switch {
		case isDir(entry, place):
			directories = append(directories, Offer{Value: dir + name + "/"})
		case slices.Contains(c.Extensions, filepath.Ext(name)):
			preferred = append(preferred, Offer{Value: dir + name})
		default:
			others = append(others, Offer{Value: dir + name})
		}
	}
	switch {
	case kind == KindDirectories:
		return directories
	case kind == KindManifests && len(preferred) > 0:
		return append(preferred, directories...)
	}
	return slices.Concat(directories, preferred, others)
}

// isDir reports whether an entry is a directory, or a link to one.
func isDir(entry os.DirEntry, place string) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(place, entry.Name()))
	return err == nil && info.IsDir()
}

// ExpandHome replaces a leading ~/ by the home directory, as the shell will.
func ExpandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	return path
}
