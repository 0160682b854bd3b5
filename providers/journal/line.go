package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
)

// The first line of a journal names its form. A change that an older settle
// would misread is a new version.
const (
	magic   = "settle journal "
	version = 1
)

var (
	header = magic + strconv.Itoa(version) + "\n"
	table  = crc32.MakeTable(crc32.Castagnoli)
)

// sector is the smallest part of a file, in bytes, that a power loss can take.
const sector = 512

// sumLen is the length of a line's checksum and the space behind it.
const sumLen = 9

// encode appends one line for each record: checksum, space, JSON.
func encode(to []byte, records []model.Record) []byte {
	for i := range records {
		text, err := json.Marshal(&records[i])
		if err != nil {
			panic("a record is plain data: " + err.Error())
		}
		to = fmt.Appendf(to, "%08x ", crc32.Checksum(text, table))
		to = append(append(to, text...), '\n')
	}
	return to
}

// decode returns the records of a journal, and how many bytes of it are whole
// lines. What follows the last line end is a line that was being written when
// its writer died: nothing was done on its strength, so it is dropped.
// A hole is the same: a sector that did not reach the disk before a power loss,
// while later ones did, reads as zero bytes. Everything behind it is dropped,
// unless a later record says that the place was synced. Anything else that is not
// as it was written is damage.
func decode(path string, text []byte) (records []model.Record, good int, err error) {
	first, rest, ok := strings.Cut(string(text), "\n")
	switch {
	case !ok && strings.HasPrefix(header, first):
		return nil, 0, nil // empty, or killed while writing the first line
	case !ok || first+"\n" != header:
		if isHole(text, 0, first) {
			return nil, 0, nil
		}
		return nil, 0, newHeaderError(path, first)
	}
	good = len(header)
	records = make([]model.Record, 0, strings.Count(rest, "\n"))
	for number := 2; ; number++ {
		line, next, ok := strings.Cut(rest, "\n")
		if !ok {
			return records, good, nil
		}
		err := checkSum(text[good : good+len(line)])
		if err != nil && isHole(text, good, line) {
			return records, good, nil
		}
		if err != nil {
			return nil, 0, newDamageError(path, number, err)
		}
		record, err := parseRecord(line[sumLen:])
		if err != nil {
			return nil, 0, newDamageError(path, number, err)
		}
		if !record.Kind.IsKnown() {
			return nil, 0, newVersionError(path, fmt.Sprintf("line %d is a %q", number, record.Kind))
		}
		records = append(records, record)
		good += len(line) + 1
		rest = next
	}
}

// isHole reports whether a line that does not check, at this offset, was lost with
// its sector before it was synced.
func isHole(text []byte, at int, line string) bool {
	from := strings.IndexByte(line, 0)
	if from < 0 {
		return false
	}
	from += at
	to := from
	for to < len(text) && text[to] == 0 {
		to++
	}
	if to-from < 2 || to%sector != 0 && to < len(text) { // a lost sector is zero to its end
		return false
	}
	for rest := range bytes.Lines(text[at:]) {
		rest = bytes.TrimLeft(bytes.TrimSuffix(rest, []byte("\n")), "\x00")
		if checkSum(rest) != nil {
			continue
		}
		if record, err := parseRecord(string(rest[sumLen:])); err == nil && record.Synced > int64(at) {
			return false
		}
	}
	return true
}

// checkSum compares a line with its checksum.
func checkSum(line []byte) error {
	if len(line) < sumLen || line[sumLen-1] != ' ' {
		return errors.New("it has no checksum")
	}
	sum, err := strconv.ParseUint(string(line[:sumLen-1]), 16, 32)
	if err != nil {
		return errors.New("it has no checksum")
	}
	if uint32(sum) != crc32.Checksum(line[sumLen:], table) {
		return errors.New("its checksum is wrong")
	}
	return nil
}

func parseRecord(text string) (record model.Record, err error) {
	if parseFast(text, &record) {
		return record, nil
	}
	record = model.Record{}
	if err = json.Unmarshal([]byte(text), &record); err != nil {
		err = fmt.Errorf("it is not a record: %w", err)
	}
	return record, err
}

// endPosition identifies the end of a journal: its length and the checksum of the
// last line, which contains a run id that no other journal has.
func endPosition(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	return fmt.Sprintf("%d-%08x", len(text), crc32.Checksum(text[last:], table))
}
