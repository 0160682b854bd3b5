package eval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
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

func (t *tally) hash(files string) string {
	if t.sum == nil {
		return files
	}
	_, _ = t.sum.Write([]byte(files)) // a hash accepts every write
	return hex.EncodeToString(t.sum.Sum(nil))
}

// put notes that a value goes into a node: for the hash, for reports, and against
// the limit. It returns false when the limit is exceeded.
func (e *Env) put(f Frame, n *yaml.Node, p value.Part, v any, found *Found) bool {
	text, isText := value.Text(v)
	size := len(text)
	if !isText {
		const each = 64 // bytes that one more value costs, whatever it is
		value.Scalars(v, func(any) { size += each })
		text = value.JSON(v)
		size += len(text)
	}
	if e.tally.bytes += size; e.tally.bytes > entry.MaxPut {
		if !e.tally.reported {
			e.tally.reported = true
			e.refuse(f, n, "the values that are put in have more than 64 MiB together", "")
		}
		return false
	}
	e.tally.stamp(p.Text, text)
	found.Uses = append(found.Uses, model.ValueUse{Expression: p.Text, Value: value.Show(v), Pos: f.File.Pos(n)})
	return true
}
