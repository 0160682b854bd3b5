package journal

import (
	"slices"
	"time"
)

// nameDelay is how late the lock file may say what runs. Thousands of short
// resources must not cost a write each.
const nameDelay = 100 * time.Millisecond

// maxNamed bounds how many running resources are named.
const maxNamed = 8

// Started tells those who find the lock held that a resource runs.
func (j *Journal) Started(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.me.Running = append(j.me.Running, id)
	j.name()
}

// Finished takes back a Started.
func (j *Journal) Finished(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.Index(j.me.Running, id); i >= 0 {
		j.me.Running = slices.Delete(j.me.Running, i, i+1)
	}
	j.name()
}

func (j *Journal) name() {
	if j.naming {
		return
	}
	j.naming = true
	time.AfterFunc(nameDelay, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.naming = false
		if j.lock == nil {
			return // closed
		}
		me := j.me
		me.Running = me.Running[:min(len(me.Running), maxNamed)]
		_ = me.write(j.lock) // only words for others; the lock itself holds
	})
}
