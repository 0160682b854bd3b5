package journal

import (
	"slices"
	"time"
)

// nameDelay is how late the lock file may name a running resource. Thousands of
// short resources must not cost one write each.
const nameDelay = 100 * time.Millisecond

// maxNamed bounds how many running resources are named.
const maxNamed = 8

// Started records that a resource runs, for processes that find the lock held.
func (j *Journal) Started(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.self.Running = append(j.self.Running, id)
	j.scheduleName()
}

// Finished takes back a Started.
func (j *Journal) Finished(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.Index(j.self.Running, id); i >= 0 {
		j.self.Running = slices.Delete(j.self.Running, i, i+1)
	}
	j.scheduleName()
}

func (j *Journal) scheduleName() {
	if j.nameScheduled {
		return
	}
	j.nameScheduled = true
	time.AfterFunc(nameDelay, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.nameScheduled = false
		if j.lock == nil {
			return // closed
		}
		me := j.self
		me.Running = me.Running[:min(len(me.Running), maxNamed)]
		_ = me.writeTo(j.lock) // only for messages; the lock itself holds
	})
}
