//go:build !linux

package apt

// LockHolder returns "": apt manages packages on Linux only.
func (Manager) LockHolder() (string, error) { return "", nil }
