package journal

import (
	"strings"

	"github.com/settle-cm/settle/model"
)

// parseFast reads the records that make up nearly all of a journal, in exactly the
// form in which they are written. It is ten times as fast as a JSON reader, and
// every run reads every record. It returns false for any other form.
func parseFast(text string, record *model.Record) bool {
	s := scanner{text}
	if !s.skipByte('{') {
		return false
	}
	for {
		key, ok := s.readString()
		if !ok || !s.skipByte(':') || !s.readField(key, record) {
			return false
		}
		if !s.skipByte(',') {
			return s.skipByte('}') && s.rest == ""
		}
	}
}

// scanner holds the unread rest of a line. Its methods report whether the line has
// the expected form.
type scanner struct{ rest string }

func (s *scanner) readField(key string, record *model.Record) (ok bool) {
	if text := textField(key, record); text != nil {
		*text, ok = s.readString()
		return ok
	}
	switch key {
	case "subscribers":
		record.Subscribers, ok = s.readStrings()
	case "process":
		record.Process, ok = s.readProcess()
	case "summary":
		record.Summary, ok = s.readSummary()
	case "labels":
		if record.Labels == nil { // a JSON reader would add to labels that are there
			record.Labels, ok = s.readLabels()
		}
	case "missing":
		record.Missing, ok = true, s.skipText("true")
	case "time":
		var text string
		text, ok = s.readString()
		ok = ok && record.Time.UnmarshalText([]byte(text)) == nil
	default:
		return s.readNumberField(key, record)
	}
	return ok
}

// textField returns where the text of a key goes, nil for other keys.
func textField(key string, record *model.Record) *string {
	switch key {
	case "kind":
		return (*string)(&record.Kind)
	case "run":
		return &record.Run
	case "id":
		return &record.ID
	case "alias":
		return &record.Alias
	case "by":
		return &record.By
	case "last":
		return &record.LastState
	case "end":
		return (*string)(&record.End)
	case "tag":
		return &record.Tag
	case "user":
		return &record.User
	}
	return nil
}

func (s *scanner) readNumberField(key string, record *model.Record) bool {
	n, ok := s.readNumber()
	switch key {
	case "pid":
		record.PID = int(n)
	case "synced":
		record.Synced = int64(n)
	case "took_ms":
		record.Took = int64(n)
	case "keep":
		record.Keep = int(n)
	case "exit":
		code := int(n)
		record.Exit = &code
	default:
		return false
	}
	return ok
}

func (s *scanner) skipByte(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) skipText(w string) bool {
	rest, ok := strings.CutPrefix(s.rest, w)
	s.rest = rest
	return ok
}

// readString reads a string without escapes.
func (s *scanner) readString() (string, bool) {
	if !s.skipByte('"') {
		return "", false
	}
	for i := range len(s.rest) {
		switch c := s.rest[i]; {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text, true
		case c < ' ' || c == '\\' || c > '~':
			return "", false
		}
	}
	return "", false
}

// readStrings reads a list of at least one string.
func (s *scanner) readStrings() (list []string, ok bool) {
	if !s.skipByte('[') {
		return nil, false
	}
	for {
		text, ok := s.readString()
		if !ok {
			return nil, false
		}
		list = append(list, text)
		if !s.skipByte(',') {
			return list, s.skipByte(']')
		}
	}
}

// readLabels reads an object of at least one text.
func (s *scanner) readLabels() (map[string]string, bool) {
	if !s.skipByte('{') {
		return nil, false
	}
	labels := map[string]string{}
	for {
		key, ok := s.readString()
		if !ok || !s.skipByte(':') {
			return nil, false
		}
		if labels[key], ok = s.readString(); !ok {
			return nil, false
		}
		if !s.skipByte(',') {
			return labels, s.skipByte('}')
		}
	}
}

func (s *scanner) readProcess() (*model.Process, bool) {
	if !s.skipText(`{"pid":`) {
		return nil, false
	}
	pid, ok := s.readNumber()
	if !ok || !s.skipText(`,"start":`) {
		return nil, false
	}
	start, ok := s.readNumber()
	p := &model.Process{PID: int(pid), Start: start}
	if ok && s.skipText(`,"boot":`) {
		p.Boot, ok = s.readString()
	}
	return p, ok && s.skipByte('}')
}

// readSummary reads the counts of a run.
func (s *scanner) readSummary() (*model.Summary, bool) {
	var sum model.Summary
	if !s.skipByte('{') {
		return nil, false
	}
	for {
		key, ok := s.readString()
		if !ok || !s.skipByte(':') {
			return nil, false
		}
		n, ok := s.readNumber()
		if !ok || !sum.Set(key, int(n)) {
			return nil, false
		}
		if !s.skipByte(',') {
			return &sum, s.skipByte('}')
		}
	}
}

// readNumber reads a non-negative integer of at most nine digits.
func (s *scanner) readNumber() (n uint64, ok bool) {
	const most = 9 // digits
	i := 0
	for ; i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		n = n*10 + uint64(s.rest[i]-'0')
	}
	if i == 0 || i > most || i > 1 && s.rest[0] == '0' {
		return 0, false
	}
	s.rest = s.rest[i:]
	return n, true
}
