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

// Sums are keyed, and of the path too: they tell nothing to whoever has not the
// key, not even that two files are equal, and mean nothing for another path.
const (
	sumBytes = 64 << 20 // what is larger is not summed up: to compare it takes long enough
	sumLen   = 16       // bytes of a sum that are kept
	tagLen   = 6        // and of that of the path alone
)

// What a sum is of.
const (
	ofContent = "content"
	ofSource  = "source" // as content, and it came from a file
	ofTarget  = "target"
	ofTree    = "tree"
)

func (f *file) newSum(key []byte, of string) hash.Hash {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, of+"\x00"+f.path+"\x00") // a hash takes every write
	return h
}

func word(h hash.Hash, length int) string {
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:length])
}

// tag is the sum of the path alone.
func (f *file) tag(key []byte) string { return word(f.newSum(key, "path"), tagLen) }

func (f *file) sumOfText(key []byte, of, text string) string {
	h := f.newSum(key, of)
	_, _ = io.WriteString(h, text) // a hash takes every write
	return word(h, sumLen)
}

// sumOf sums up what a reader has, "" when that is too much.
func (f *file) sumOf(key []byte, of string, r io.Reader) (string, error) {
	h := f.newSum(key, of)
	n, err := io.Copy(h, io.LimitReader(r, sumBytes+1))
	if err != nil || n > sumBytes {
		return "", err
	}
	return word(h, sumLen), nil
}

// sumDeclared sums up what is declared to be in the file, the link or the tree,
// and says which of them. The sum is "" when nothing is declared of that, when
// it is too much, or not for the state.
func (f *file) sumDeclared(key []byte) (of, sum string, err error) {
	switch {
	case f.sensitive, f.create:
		return "", "", nil
	case f.recurse:
		sum, err = f.sumOfTree(key)
		return ofTree, sum, err
	case f.kind == disk.Link:
		return ofTarget, f.sumOfText(key, ofTarget, f.target), nil
	case f.source != "":
		of = ofSource
	case f.content != nil:
		of = ofContent
	default:
		return "", "", nil
	}
	p := f.only()
	r, size, err := p.reader()
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	if size > sumBytes {
		return of, "", nil
	}
	sum, err = f.sumOf(key, of, r)
	return of, sum, err
}

// sumOfTree sums up all that a source directory says of a tree, and what is
// declared for all of it.
func (f *file) sumOfTree(key []byte) (string, error) {
	h := f.newSum(key, ofTree)
	fmt.Fprintf(h, "%q %q\n", f.owner, f.group)
	left := int64(sumBytes)
	err := f.tree(func(p part) error {
		mode := "any"
		if p.mode != nil {
			mode = fmt.Sprintf("%o", *p.mode)
		}
		fmt.Fprintf(h, "%q %d %s %q\n", p.path, p.kind, mode, p.target)
		if p.kind != disk.Regular || left < 0 {
			return nil
		}
		r, size, err := p.reader()
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
	return word(h, sumLen), nil
}
