package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// files are those whose names begin with what stands there: for bash, whose own
// way to find them neither prefers some nor goes with other offers. Directories
// end with a slash.
func files(text string, of kind) []offer {
	dir, base := filepath.Split(text)
	place := cmp.Or(atHome(dir), ".")
	entries, err := os.ReadDir(place)
	if err != nil {
		return nil
	}
	var directories, preferred, others []offer
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, base) || base == "" && name[0] == '.' {
			continue
		}
		switch {
		case isDir(entry, place):
			directories = append(directories, offer{value: dir + name + "/"})
		case slices.Contains(manifestExtensions, filepath.Ext(name)):
			preferred = append(preferred, offer{value: dir + name})
		default:
			others = append(others, offer{value: dir + name})
		}
	}
	switch {
	case of == someDirectories:
		return directories
	case of == someManifests && len(preferred) > 0:
		return append(preferred, directories...)
	}
	return slices.Concat(directories, preferred, others)
}

// isDir says whether an entry is a directory, or a link to one.
func isDir(entry os.DirEntry, place string) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(place, entry.Name()))
	return err == nil && info.IsDir()
}
