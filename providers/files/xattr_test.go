//go:build linux || darwin

package files

import "testing"

// The users of the old access list may not open a new file before it has its
// stricter mode, so the list is copied as a change of the mode would leave it.
func TestAccessListIsCopiedAsStrictAsTheMode(t *testing.T) {
	const none = "\xff\xff\xff\xff"
	entry := func(tag, bits byte, id string) string { return string([]byte{tag, 0, bits, 0}) + id }
	for name, tt := range map[string]struct{ list, want string }{
		"with a mask": {
			entry(1, 6, none) + entry(2, 6, "\xd2\x04\x00\x00") + entry(4, 6, none) + entry(0x10, 6, none) + entry(0x20, 4, none),
			entry(1, 6, none) + entry(2, 6, "\xd2\x04\x00\x00") + entry(4, 6, none) + entry(0x10, 0, none) + entry(0x20, 0, none),
		},
		"without a mask": {
			entry(1, 7, none) + entry(4, 6, none) + entry(0x20, 4, none),
			entry(1, 6, none) + entry(4, 0, none) + entry(0x20, 0, none),
		},
		"cut short": {entry(1, 7, none) + "\x04", entry(1, 6, none) + "\x04"},
	} {
		const header = "\x02\x00\x00\x00"
		if got := string(limitAccess([]byte(header+tt.list), 0o600)); got != header+tt.want {
			t.Errorf("%s: %q; want %q", name, got, header+tt.want)
		}
	}
}
