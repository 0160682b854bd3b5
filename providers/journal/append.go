package journal

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/settle-cm/settle/model"
)

// compactAbove is the size in bytes above which a run compacts the journal first.
const compactAbove = 1 << 20

// Journal is the locked state of one identity. Records that are appended reach the
// next run. Snapshot is the state that Lock found; Close releases the lock. It is
// safe for concurrent use.
type Journal struct {
	Snapshot
	lock *os.File

	mu            sync.Mutex // over all below, and over the Snapshot's records
	self          Holder
	nameScheduled bool           // our name is about to be written into the lock file anew
	pending       []model.Record // go with the first record: a run that does nothing is one line, its end
	file          *os.File       // nil before the first line
	dirty         bool           // written and not synced
	cached        model.Memory   // what the records added up to when there were
	cachedCount   int            // so many of them
	err           error          // after which nothing more can be promised
	synced        int64          // so many bytes are known to survive a power loss
	marked        int64          // the last synced that a record names
	markedAt      int64          // size of the journal when it did

	// the file's methods, except in tests of a failing disk
	write func([]byte) (int, error)
	sync  func() error
	// replaceFile, except in tests of a failing disk
	replace func(path string, text []byte) error
}

// Append adds records to the journal. With durable set they, and all records
// before them, survive a power loss once Append returns. After an error the
// journal is as before, or refuses further records.
func (j *Journal) Append(records []model.Record, durable bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.append(records, durable)
}

func (j *Journal) append(records []model.Record, durable bool) error {
	if j.err != nil {
		return j.err
	}
	if len(records) > 0 {
		records = append(j.pending, records...)
		if err := j.writeLines(records); err != nil {
			return err
		}
		j.pending = nil
		j.records = append(j.records, records...)
	}
	if durable && j.dirty {
		if err := j.sync(); err != nil {
			// the content of the disk is unknown from now on
			j.err = j.store.explain("save state", j.file.Name(), err)
			return j.err
		}
		j.dirty, j.synced = false, j.size
	}
	return nil
}

// errRemoved is the error of a state that was removed or replaced while its run
// was going on: the records of the run are in no file that a later run reads.
var errRemoved = errors.New("it was removed or replaced during the run, which may have left refreshes owed")

// checkInPlace returns an error unless the open files are still at their paths.
func (j *Journal) checkInPlace() error {
	for _, file := range []*os.File{j.lock, j.file} {
		if file == nil {
			continue
		}
		same, err := isCurrent(file)
		if err == nil && !same {
			err = errRemoved
		}
		if err != nil {
			j.err = j.store.explain("save state", file.Name(), err)
			return j.err
		}
	}
	return nil
}

func (j *Journal) writeLines(records []model.Record) error {
	if err := j.openFile(); err != nil {
		return j.store.explain("save state", j.store.file("journal"), err)
	}
	var text []byte
	if j.size == 0 {
		text = append(text, header...)
	}
	// A reader learns from it which damage no power loss can explain. It is in
	// every sector, because any of them may be lost.
	if j.synced > j.marked || j.synced > 0 && j.size/sector > j.markedAt/sector {
		records[0].Synced = j.synced
	}
	text = encode(text, records)
	n, err := j.write(text)
	if err == nil {
		j.size += int64(n)
		j.dirty = true
		if records[0].Synced > 0 {
			j.marked, j.markedAt = j.synced, j.size
		}
		return nil
	}
	err = j.store.explain("save state", j.file.Name(), err)
	if cutErr := j.file.Truncate(j.size); cutErr != nil {
		j.err = err // half a line stays, so a further line would be damage
	}
	return err
}

// openFile opens one of our files, creates it if needed, and sets its mode to 0600.
func (j *Journal) openFile() error {
	if j.file != nil {
		return nil
	}
	path := j.store.file("journal")
	if j.size > compactAbove && j.self.Run != "" {
		if err := j.compact(path); err != nil {
			j.err = err
			return err
		}
	}
	file, err := openFile(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < j.size {
		err = errRemoved
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return err
	}
	if err = file.Truncate(j.size); err == nil && j.size == 0 {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return err
	}
	j.file = file
	if j.write == nil {
		j.write = file.Write
	}
	if j.sync == nil {
		j.sync = file.Sync
	}
	return nil
}

// compact rewrites the journal when that makes it much shorter. It saves time and
// space only: while the long journal stands, it is just as good. After an error
// the file is looked at again, because the short one may stand already. The error
// is of a short journal that a power loss could take back with all later records.
func (j *Journal) compact(path string) error {
	memory := j.memory()
	if memory.Size() > len(j.records)/2 { // most of it is still needed
		return nil
	}
	if j.pruneBackups() != nil { // of runs that the compacted journal no longer contains
		return nil
	}
	text := encode([]byte(header), model.Compact(j.records))
	size := int64(len(text))
	if size > j.size/2 {
		return nil
	}
	replace := replaceFile
	if j.replace != nil {
		replace = j.replace
	}
	err := replace(path, text)
	if err == nil {
		j.size, j.synced = size, size
		return nil
	}
	info, statErr := os.Stat(path)
	if statErr != nil || info.Size() < j.size {
		return err
	}
	return nil
}

// Memory returns the replayed state of the journal.
func (j *Journal) Memory() model.Memory {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.memory()
}

// memory replays the records, unless no record was added since the last call: a
// converged run asks twice.
func (j *Journal) memory() model.Memory {
	if j.cachedCount != len(j.records) || j.cachedCount == 0 {
		j.cached, j.cachedCount = j.Snapshot.Memory(), len(j.records)
	}
	return j.cached
}

// Close releases the lock. Appended records stay.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.file != nil {
		if err = j.file.Close(); err != nil {
			err = j.store.explain("save state", j.file.Name(), err)
		}
		j.file = nil
	}
	j.err = os.ErrClosed
	j.release()
	return err
}
