package journal

import (
	"crypto/rand"
	"path/filepath"
	"sync"
)

// keyLen is how many bytes a key has: as many as the sums that it is for.
const keyLen = 32

// Key returns a function that reads the key of a state directory and, with create
// set, makes it on first use. Types use the key to sum up values that must not be
// guessed. It is a file of its own, so that a journal alone does not help an
// attacker. Without a key the function returns nil: sums are then never equal.
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
			_ = replaceFile(path, fresh) // when it fails, readKey returns nil
			key = readKey(path)          // another apply may have been first
		}
		return key
	}
}

// MakeKey returns the key of a state directory and makes both where they are
// missing. It returns nil when it cannot.
func MakeKey(dir string) []byte {
	if dir == "" || (Store{Dir: dir}).prepareDir() != nil {
		return nil
	}
	return Key(dir)(true)
}

// readKey returns a complete key, nil otherwise.
func readKey(path string) []byte {
	key, err := readFile(path)
	if err != nil || len(key) != keyLen {
		return nil
	}
	return key
}
