package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// BackupDir returns the directory in which a run keeps replaced files, "" when dir
// is "". All identities share one parent; run ids are unique.
func BackupDir(dir, run string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, ".backup", run)
}

// pruneBackups removes backups of runs that the history has dropped. Runs that this
// journal does not know may belong to another identity and are left alone.
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
