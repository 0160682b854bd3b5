package eval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model/value"
)

// tally counts and hashes the values that are put into a manifest.
type tally struct {
	bytes    int
	reported bool      // that they are too many
	sum      hash.Hash // nil before the first value
}

// stamp adds texts to the hash.
func (t *tally) stamp(texts ...string) {
	if t.sum == nil {
		t.sum = sha256.New()
	}
	for _, text := range texts {
		_ = binary.Write(t.sum, binary.BigEndian, int64(len(text))) // a hash accepts every write
		_, _ = t.sum.Write([]byte(text))
	}
}

// hash returns the hash of the files and of all values, that of the files alone
// when there were no values.
func (t *tally) hash(files string) string {
	if t.sum == nil {
		return files
	}
	_, _ = t.sum.Write([]byte(files)) // a hash accepts every write
	return hex.EncodeToString(t.sum.Sum(nil))
}

// add counts a value and adds it to the hash, under the text of its expression. It
// returns false when all values together exceed the limit.
func (t *tally) add(expression string, v any) bool {
	text, isText := value.Text(v)
	size := len(text)
	if !isText {
		const each = 64 // bytes that one more value costs, whatever it is
		value.EachScalar(v, func(any) { size += each })
		text = value.JSON(v)
		size += len(text)
	}
	if t.bytes += size; t.bytes > entry.MaxPut {
		return false
	}
	t.stamp(expression, text)
	return true
}
