package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// BackupDir returns where a run keeps what it replaces, "" for a state
// directory that is nowhere. All identities share one place, and the ids of
// runs are of one run each.
func BackupDir(dir, run string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, ".backup", run)
}

// pruneBackups removes what runs have kept that the history has dropped. It
// touches nothing of a run that this journal does not know: that may be
// another identity's.
func (j *Journal) pruneBackups() error {
	dir := BackupDir(j.store.Dir, "")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 && err == nil {
		return nil
	}
	dropped := map[string]bool{}
	for i := range j.records {
		dropped[j.records[i].Run] = true
	}
	for _, past := range j.Runs() {
		delete(dropped, past.Run)
	}
	for _, entry := range entries {
		if err == nil && dropped[entry.Name()] {
			err = os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
	if err != nil {
		return j.store.explain("prune backups", dir, err)
	}
	return nil
}
