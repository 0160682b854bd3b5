package journal

import (
	"strings"

	"github.com/settle-cm/settle/model"
)

// quick reads the facts that make up nearly all of a journal, in the form in
// which they are written, ten times as fast as a reader of any JSON can: each
// run reads them all. What it does not know it leaves to that reader.
func quick(text string, fact *model.Record) bool {
	s := scanner{text}
	if !s.eat('{') {
		return false
	}
	for {
		key, ok := s.text()
		if !ok || !s.eat(':') || !s.field(key, fact) {
			return false
		}
		if !s.eat(',') {
			return s.eat('}') && s.rest == ""
		}
	}
}

// scanner holds what is left of a line. Its methods report whether the line
// goes on as they expect.
type scanner struct{ rest string }

func (s *scanner) field(key string, fact *model.Record) (ok bool) {
	var word string
	var n uint64
	switch key {
	case "kind":
		word, ok = s.text()
		fact.Kind = model.RecordKind(word)
	case "run":
		fact.Run, ok = s.text()
	case "id":
		fact.ID, ok = s.text()
	case "alias":
		fact.Alias, ok = s.text()
	case "by":
		fact.By, ok = s.text()
	case "last":
		fact.LastState, ok = s.text()
	case "end":
		word, ok = s.text()
		fact.End = model.End(word)
	case "missing":
		fact.Missing, ok = true, s.word("true")
	case "subscribers":
		fact.Subscribers, ok = s.texts()
	case "process":
		fact.Process, ok = s.process()
	case "time":
		word, ok = s.text()
		ok = ok && fact.Time.UnmarshalText([]byte(word)) == nil
	case "user":
		fact.User, ok = s.text()
	case "pid":
		n, ok = s.number()
		fact.PID = int(n)
	case "took_ms":
		n, ok = s.number()
		fact.Took = int64(n)
	case "exit":
		n, ok = s.number()
		code := int(n)
		fact.Exit = &code
	case "summary":
		fact.Summary, ok = s.summary()
	case "keep":
		n, ok = s.number()
		fact.Keep = int(n)
	}
	return ok
}

func (s *scanner) eat(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) word(w string) bool {
	rest, ok := strings.CutPrefix(s.rest, w)
	s.rest = rest
	return ok
}

// text reads a string in which nothing is escaped.
func (s *scanner) text() (string, bool) {
	if !s.eat('"') {
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

// texts reads a list of at least one string.
func (s *scanner) texts() (list []string, ok bool) {
	if !s.eat('[') {
		return nil, false
	}
	for {
		text, ok := s.text()
		if !ok {
			return nil, false
		}
		list = append(list, text)
		if !s.eat(',') {
			return list, s.eat(']')
		}
	}
}

func (s *scanner) process() (*model.Process, bool) {
	if !s.word(`{"pid":`) {
		return nil, false
	}
	pid, ok := s.number()
	if !ok || !s.word(`,"start":`) {
		return nil, false
	}
	start, ok := s.number()
	return &model.Process{PID: int(pid), Start: start}, ok && s.eat('}')
}

// summary reads the counts of a run.
func (s *scanner) summary() (*model.Summary, bool) {
	var sum model.Summary
	if !s.eat('{') {
		return nil, false
	}
	for {
		key, ok := s.text()
		if !ok || !s.eat(':') {
			return nil, false
		}
		n, ok := s.number()
		if !ok || !sum.Set(key, int(n)) {
			return nil, false
		}
		if !s.eat(',') {
			return &sum, s.eat('}')
		}
	}
}

// number reads a whole number that fits wherever one is wanted.
func (s *scanner) number() (n uint64, ok bool) {
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
