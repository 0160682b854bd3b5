package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

var exit = 1

// sample has every kind of record and every field in it.
var sample = []model.Record{
	{Kind: model.RecordRun, Run: "r1", Time: began, User: "alice", PID: 7},
	{Kind: model.RecordUnfinished, Run: "r0", ID: "exec#old"},
	{Kind: model.RecordOwed, Run: "r0", ID: "exec#s", By: "exec#p"},
	{Kind: model.RecordBegan, Run: "r1", ID: "exec#p", Alias: "exec#q", Subscribers: []string{"exec#s", "file#ü\n\"<&>\x00"}, Missing: true},
	{Kind: model.RecordProcess, Run: "r1", ID: "exec#p", Process: &model.Process{PID: 8, Start: 99}},
	{Kind: model.RecordEnded, Run: "r1", ID: "exec#p", Alias: "exec#q", End: model.EndChanged},
	{Kind: model.RecordSettled, Run: "r1", ID: "exec#s"},
	{Kind: model.RecordLastState, Run: "r1", ID: "file#/f", Alias: "file#f", LastState: "f 644"},
	{Kind: model.RecordForget, ID: "exec#s"},
	{Kind: model.RecordDone, Run: "r1", Time: began, User: "alice", PID: 7, Took: 12, Exit: &exit, Summary: &model.Summary{Total: 3}, Labels: map[string]string{"commit": "3f2a1c0", "job": "7"}, Keep: 9},
}

func text(records ...model.Record) []byte { return encode([]byte(header), records) }

func TestDecodeReturnsEncodedRecords(t *testing.T) {
	t.Parallel()
	records, good, err := decode("j", text(sample...))
	if err != nil || good != len(text(sample...)) {
		t.Fatalf("read %d bytes: %v", good, err)
	}
	diff(t, "records", sample, records)
}

func TestRecordIsOneLine(t *testing.T) {
	t.Parallel()
	if lines := bytes.Count(text(sample...), []byte("\n")); lines != 1+len(sample) {
		t.Errorf("%d records are %d lines", len(sample), lines)
	}
}

func TestCutJournalKeepsWholeRecords(t *testing.T) {
	t.Parallel()
	whole := text(sample...)
	for n := range len(whole) + 1 {
		records, good, err := decode("j", whole[:n])
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		if want := max(0, lines-1); len(records) != want || !reflect.DeepEqual(records, append([]model.Record{}, sample[:want]...)) && want > 0 {
			t.Fatalf("cut at %d: %d records, want the first %d", n, len(records), want)
		}
		if want := bytes.LastIndexByte(whole[:n], '\n') + 1; good != want {
			t.Fatalf("cut at %d: %d good bytes, want %d", n, good, want)
		}
	}
}

func TestAnyFlippedBitIsDamageOrTheTornLastLine(t *testing.T) {
	t.Parallel()
	whole := text(sample...)
	all, _, _ := decode("j", whole)
	for n := range whole {
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[n] ^= 1 << bit
			records, _, err := decode("j", flipped)
			var stated *Error
			switch {
			case errors.As(err, &stated):
			case err != nil:
				t.Fatalf("byte %d, bit %d: %v is not an Error", n, bit, err)
			case reflect.DeepEqual(records, all): // a hex digit in the other case
			case n == len(whole)-1 && len(records) == len(all)-1: // no line end any more: torn
			default:
				t.Fatalf("byte %d, bit %d: %d records and no error", n, bit, len(records))
			}
		}
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	t.Parallel()
	long := text(sample...)
	rows := []struct{ name, text, want string }{
		{"another file", "#!/bin/sh\n", "j:1: it is not the first line of a journal of settle"},
		{"another file without a line end", "hello", "j:1: it is not the first line"},
		{"an older version that never was", "settle journal 0\n", "j:1: it is not the first line"},
		{"a newer version", "settle journal 2\nanything", "written by a newer settle: j: it is of version 2, this settle knows version 1; use that settle"},
		{"a kind of a newer version", string(text(model.Record{Kind: "dance"})), `written by a newer settle: j: line 2 is a "dance"`},
		{"no checksum", header + "{}\n", "j:2: it has no checksum"},
		{"an empty line", header + "\n", "j:2: it has no checksum"},
		{"a checksum that is no number", header + "0000000x {}\n", "j:2: it has no checksum"},
		{"a wrong checksum", header + "00000000 {}\n", "j:2: its checksum is wrong"},
		{"a line that is missing its head", string(long[:40]) + string(long[41:]), "j:2: its checksum is wrong"},
		{"zeros of a lost page in the middle", string(long[:40]) + strings.Repeat("\x00", 64) + string(long[104:]), "j:2: its checksum is wrong"},
		{"damage says what to do", header + "\n", "nothing was run. Restore the file, or move it away and apply with --on-missing-state refresh"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			records, good, err := decode("j", []byte(row.text))
			if err == nil || !strings.Contains(err.Error(), row.want) || records != nil || good != 0 {
				t.Errorf("%d records, %v; want %q", len(records), err, row.want)
			}
		})
	}
}

func TestZerosBehindTheLastLineAreTorn(t *testing.T) {
	t.Parallel()
	whole := text(sample...)
	records, good, err := decode("j", append(bytes.Clone(whole), make([]byte, 4096)...))
	if err != nil || len(records) != len(sample) || good != len(whole) {
		t.Errorf("%d records, %d bytes, %v", len(records), good, err)
	}
}

func TestPositionMovesWithEveryLine(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{endPosition(nil): true}
	for n := range len(sample) + 1 {
		p := endPosition(text(sample[:n]...))
		if seen[p] {
			t.Errorf("after %d records it is again %s", n, p)
		}
		seen[p] = true
	}
	other := sample[0]
	other.Run = "r2"
	if endPosition(text(sample[0])) == endPosition(text(other)) {
		t.Error("two runs end at one position")
	}
}

func FuzzDecode(f *testing.F) {
	whole := text(sample...)
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte(header))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		start := time.Now()
		records, good, err := decode("j", text)
		if time.Since(start) > time.Minute {
			t.Fatal("hangs")
		}
		if err != nil {
			if records != nil || good != 0 {
				t.Fatal("an error, and records")
			}
			return
		}
		if again, _, err := decode("j", text[:good]); err != nil || !reflect.DeepEqual(records, again) && len(records) > 0 {
			t.Fatalf("the good part reads otherwise: %v", err)
		}
		model.Replay(records) // of records that make no sense, too
		model.Compact(records)
		if again, _, err := decode("j", encode([]byte(header), records)); err != nil || len(again) != len(records) {
			t.Fatalf("written again, %d records are %d: %v", len(records), len(again), err)
		}
	})
}

// The quick reader says what the thorough one says, or nothing.
func FuzzParseFast(f *testing.F) {
	for _, record := range sample {
		line := encode(nil, []model.Record{record})
		f.Add(string(line[sumLen : len(line)-1]))
	}
	for _, line := range []string{
		`{"kind":"end","kind":"begin"}`, `{"subscribers":[]}`, `{"process":{"pid":01,"start":1}}`, `{"missing":false}`, `{"id":"\u0041"}`,
		`{"id":"ü"}`, `{"id":"a",}`, `{"id":"a"} `, `{"process":{"pid":12345678901234567890,"start":1}}`, `{"kind":"end"`, `{}`,
		`{"exit":-1}`, `{"exit":null}`, `{"time":"2026-01-02T3:04:05Z"}`, `{"summary":{}}`, `{"summary":null}`, `{"summary":{"would_run":1,"total":2,"other":3}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want model.Record
		if !parseFast(text, &got) {
			return
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nis %+v, want %+v (%v)", text, got, want, err)
		}
	})
}

func TestParseFastReadsCommonRecords(t *testing.T) {
	t.Parallel()
	for _, record := range sample {
		record.Subscribers = slices.DeleteFunc(slices.Clone(record.Subscribers), func(s string) bool { return strings.Contains(s, "ü") })
		line := encode(nil, []model.Record{record})
		var got model.Record
		if !parseFast(string(line[sumLen:len(line)-1]), &got) {
			t.Errorf("left to the thorough reader: %s", line)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	var records []model.Record
	for range 2500 {
		records = append(records,
			model.Record{Kind: model.RecordBegan, Run: "20260102T030405Z-abcd", ID: "exec#some resource", Subscribers: []string{"exec#another one"}, Missing: true},
			model.Record{Kind: model.RecordEnded, Run: "20260102T030405Z-abcd", ID: "exec#some resource", End: model.EndChanged})
	}
	whole := text(records...)
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		if _, _, err := decode("j", whole); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	record := []model.Record{{Kind: model.RecordBegan, Run: "20260102T030405Z-abcd", ID: "exec#some resource", Subscribers: []string{"exec#another one"}}}
	var buf []byte
	for b.Loop() {
		buf = encode(buf[:0], record)
	}
}
