package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/cmd/internal/publish"
)

// checkFiles refuses to write one file twice, or to write to a file that the run reads.
// A typing mistake would replace a report or the manifest.
func (f *reportFlags) checkFiles(reads []string, writes ...string) error {
	for _, r := range f.Report {
		writes = append(writes, r.Path)
	}
	for i, path := range writes {
		for _, read := range reads {
			if isSameFile(path, read) {
				return fmt.Errorf("%s is read by this run: a report or a plan would replace it; name another file", path)
			}
		}
		for _, other := range writes[:i] {
			if isSameFile(path, other) {
				return fmt.Errorf("%s is named twice: what is written last would replace the other; name two files", path)
			}
		}
	}
	return nil
}

// isSameFile reports whether two paths lead to the same regular file, also when it does
// not exist yet.
func isSameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	to, err := os.Stat(a)
	if err == nil && !publish.IsReplaced(to) { // nothing is replaced there
		return false
	}
	if other, fault := os.Stat(b); err == nil && fault == nil {
		return os.SameFile(to, other)
	}
	a, err = filepath.Abs(publish.FollowLinks(a))
	if err != nil {
		return false
	}
	b, err = filepath.Abs(publish.FollowLinks(b))
	return err == nil && a == b
}
