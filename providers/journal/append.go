package journal

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/settle-cm/settle/model"
)

// compactAbove is the size from which a run starts by shortening the journal.
const compactAbove = 1 << 20

// Journal is the state of an identity, locked: what is told to it is there for
// the next run. Its Snapshot is what it found; Close ends the lock. It may be
// used by several goroutines.
type Journal struct {
	Snapshot
	lock *os.File

	mu       sync.Mutex // over all below, and over the Snapshot's facts
	self       Holder
	nameScheduled   bool           // our name is about to be written into the lock file anew
	pending  []model.Record // go with the first fact: a run that does nothing is one line, its end
	file     *os.File       // nil before the first line
	dirty    bool           // written and not synced
	cached     model.Memory   // what the facts added up to when there were
	cachedCount int            // so many of them
	err      error          // after which nothing more can be promised

	// the file's, but for tests of what a failing disk does
	write func([]byte) (int, error)
	sync  func() error
}

// Append adds facts to the journal. When durable is set they, and all before
// them, survive a power loss once it returns. After an error the journal is as
// it was before, or takes nothing more.
func (j *Journal) Append(facts []model.Record, durable bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.append(facts, durable)
}

func (j *Journal) append(facts []model.Record, durable bool) error {
	if j.err != nil {
		return j.err
	}
	if len(facts) > 0 {
		facts = append(j.pending, facts...)
		if err := j.writeLines(facts); err != nil {
			return err
		}
		j.pending = nil
		j.records = append(j.records, facts...)
	}
	if durable && j.dirty {
		if err := j.sync(); err != nil {
			// what is on the disk now, no one can tell
			j.err = j.store.explain("save state", j.file.Name(), err)
			return j.err
		}
		j.dirty = false
	}
	return nil
}

func (j *Journal) writeLines(facts []model.Record) error {
	if err := j.openFile(); err != nil {
		return j.store.explain("save state", j.store.file("journal"), err)
	}
	var text []byte
	if j.size == 0 {
		text = append(text, header...)
	}
	text = encode(text, facts)
	n, err := j.write(text)
	if err == nil {
		j.size += int64(n)
		j.dirty = true
		return nil
	}
	err = j.store.explain("save state", j.file.Name(), err)
	if cutErr := j.file.Truncate(j.size); cutErr != nil {
		j.err = err // half a line stays: another one behind it would be damage
	}
	return err
}

// openFile opens the journal for writing: shortens it where it has grown long,
// and cuts off what a dead writer left of a line.
func (j *Journal) openFile() error {
	if j.file != nil {
		return nil
	}
	path := j.store.file("journal")
	if j.size > compactAbove && j.self.Run != "" {
		j.compact(path)
	}
	file, err := openFile(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
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

// compact writes the journal anew, shorter, when that is worth its while. It
// is an economy, not a promise: where it fails the long journal is as good.
func (j *Journal) compact(path string) {
	memory := j.memory()
	if memory.Size() > len(j.records)/2 { // it is long because there is much to remember
		return
	}
	if j.pruneBackups() != nil { // of runs that it will know no more
		return
	}
	text := encode([]byte(header), model.Compact(j.records))
	if size := int64(len(text)); size <= j.size/2 && replaceFile(path, text) == nil {
		j.size = size
	}
}

// Memory returns what the journal adds up to by now.
func (j *Journal) Memory() model.Memory {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.memory()
}

// memory replays the facts, unless there are no more than the last time: a run
// that finds all as declared asks twice, before and after.
func (j *Journal) memory() model.Memory {
	if j.cachedCount != len(j.records) || j.cachedCount == 0 {
		j.cached, j.cachedCount = j.Snapshot.Memory(), len(j.records)
	}
	return j.cached
}

// Close ends the lock. What was appended stays.
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
