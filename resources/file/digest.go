package file

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"

	"github.com/settle-cm/settle/model/disk"
)

// Sums are keyed and include the path. Without the key a reader of the journal
// learns nothing from them, not even that two files are equal.
const (
	sumBytes = 64 << 20 // larger contents are not summed: reading them takes too long
	sumLen   = 16       // bytes of a content's sum that are kept
	tagLen   = 6        // bytes of a path's sum that are kept
)

// What a sum is of. The words stand in the journal.
const (
	sumContent = "content"
	sumSource  = "source" // a content that came from a file
	sumTarget  = "target"
	sumTree    = "tree"
)

func (f *file) newHash(key []byte, of string) hash.Hash {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, of+"\x00"+f.path+"\x00") // a hash takes every write
	return h
}

func encodeSum(h hash.Hash, length int) string {
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:length])
}

// sumPath returns the sum of the path alone.
func (f *file) sumPath(key []byte) string { return encodeSum(f.newHash(key, "path"), tagLen) }

func (f *file) sumText(key []byte, of, text string) string {
	h := f.newHash(key, of)
	_, _ = io.WriteString(h, text) // a hash takes every write
	return encodeSum(h, sumLen)
}

// sumReader returns the sum of a reader's bytes, or "" above sumBytes.
func (f *file) sumReader(key []byte, of string, r io.Reader) (string, error) {
	h := f.newHash(key, of)
	n, err := io.Copy(h, io.LimitReader(r, sumBytes+1))
	if err != nil || n > sumBytes {
		return "", err
	}
	return encodeSum(h, sumLen), nil
}

// sumDeclared returns the sum of the declared content, target or tree, and which
// of them it is. The sum is "" when no content is declared, when it is above
// sumBytes, and when it must not be remembered.
func (f *file) sumDeclared(key []byte) (of, sum string, err error) {
	switch {
	case f.sensitive, f.onlyCreate:
		return "", "", nil
	case f.recurse:
		sum, err = f.sumSourceTree(key)
		return sumTree, sum, err
	case f.kind == disk.Link:
		return sumTarget, f.sumText(key, sumTarget, f.target), nil
	case f.source != "":
		of = sumSource
	case f.content != nil:
		of = sumContent
	default:
		return "", "", nil
	}
	p := f.desired()
	r, size, err := p.open()
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	if size > sumBytes {
		return of, "", nil
	}
	sum, err = f.sumReader(key, of, r)
	return of, sum, err
}

// sumSourceTree returns the sum of a source directory and of the attributes that
// are declared for the copy.
func (f *file) sumSourceTree(key []byte) (string, error) {
	h := f.newHash(key, sumTree)
	fmt.Fprintf(h, "%q %q\n", f.owner, f.group)
	left := int64(sumBytes)
	err := f.visitTree(func(p desired) error {
		mode := "any"
		if p.mode != nil {
			mode = fmt.Sprintf("%o", *p.mode)
		}
		fmt.Fprintf(h, "%q %d %s %q\n", p.path, p.kind, mode, p.target)
		if p.kind != disk.Regular || left < 0 {
			return nil
		}
		r, size, err := p.open()
		if err != nil {
			return err
		}
		defer r.Close()
		if left -= size; left < 0 {
			return nil
		}
		fmt.Fprintf(h, "%d\n", size)
		_, err = io.Copy(h, io.LimitReader(r, size))
		return err
	})
	if err != nil || left < 0 {
		return "", err
	}
	return encodeSum(h, sumLen), nil
}
