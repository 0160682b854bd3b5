//go:build unix

package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestKeyIsCreatedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ".key")
	key := Key(dir)
	if got := key(false); got != nil {
		t.Fatalf("there is a key before one was made: %x", got)
	}
	first := key(true)
	if len(first) != keyLen || !bytes.Equal(key(false), first) || !bytes.Equal(Key(dir)(false), first) || !bytes.Equal(Key(dir)(true), first) {
		t.Errorf("the key does not stay %x", first)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v, %v", info, err)
	}
	write(t, path, "half a key")
	if got := Key(dir)(false); got != nil {
		t.Errorf("half a key is one: %x", got)
	}
	if got := Key(dir)(true); len(got) != keyLen || bytes.Equal(got, first) {
		t.Errorf("a new key is %x, the old one was %x", got, first)
	}
	for _, dir := range []string{"", filepath.Join(dir, "missing")} {
		if got := Key(dir)(true); got != nil {
			t.Errorf("in %q there is a key: %x", dir, got)
		}
	}
}

func TestIdentitiesShareOneKey(t *testing.T) {
	t.Parallel()
	key := Key(t.TempDir())
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() { keys[i] = key(true) })
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != keyLen || !bytes.Equal(k, keys[0]) {
			t.Errorf("keys %x", keys)
		}
	}
}
