package journal

import (
	"crypto/rand"
	"path/filepath"
	"sync"
)

// keyLen is how many bytes a key has: as many as the sums that it is for.
const keyLen = 32

// Key returns what gives the key of a state directory, by which types sum up
// what must not be guessed from what a journal holds. It is in a file of its
// own, so that a journal alone is worth nothing to whoever guesses, and is made
// when it is first wanted for good. It is nil when there is none: then nothing
// that was summed up can be known again, and nothing depends on that.
func Key(dir string) func(create bool) []byte {
	var mu sync.Mutex
	var key []byte
	return func(create bool) []byte {
		mu.Lock()
		defer mu.Unlock()
		if key != nil || dir == "" {
			return key
		}
		path := filepath.Join(dir, ".key") // no identity's directory begins with a dot
		if key = readKey(path); key == nil && create {
			fresh := make([]byte, keyLen)
			_, _ = rand.Read(fresh)      // never fails
			_ = replaceFile(path, fresh) // where it cannot be kept there is none to read either
			key = readKey(path)          // the one of another apply, if that was quicker
		}
		return key
	}
}

// readKey returns a whole key, nil for anything else.
func readKey(path string) []byte {
	key, err := readFile(path)
	if err != nil || len(key) != keyLen {
		return nil
	}
	return key
}
