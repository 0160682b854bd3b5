package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/cmd/internal/publish"
)

// apart refuses to write one file twice, or over what the run reads: a slip of
// the hand would cost a report, or the manifest.
func (f *reportFlags) apart(reads []string, writes ...string) error {
	for _, r := range f.Report {
		writes = append(writes, r.Path)
	}
	for i, path := range writes {
		for _, read := range reads {
			if oneFile(path, read) {
				return fmt.Errorf("%s is read by this run: a report or a plan would replace it; name another file", path)
			}
		}
		for _, other := range writes[:i] {
			if oneFile(path, other) {
				return fmt.Errorf("%s is named twice: what is written last would replace the other; name two files", path)
			}
		}
	}
	return nil
}

// oneFile says whether two paths lead to the same regular file, or will once
// there is one.
func oneFile(a, b string) bool {
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
