package secret

// filter redacts one stream.
type filter struct {
	redactor *Redactor
	at       int32  // state
	held     []byte // undecided: the beginning of a value, as long as the state is deep
	matches  []span // matched values, or their rest, within held or before it
	out      []byte
}

// span is a matched part of a stream, as offsets from the start of the held bytes.
// It may begin before them when its replacement has been written already.
type span struct {
	from, to int
	written  bool // the replacement is written
}

// write takes a chunk and returns the decided bytes, within p itself where nothing
// is redacted. end decides the rest.
func (f *filter) write(p []byte, end bool) []byte {
	text := p
	if len(f.held) > 0 {
		f.held = append(f.held, p...)
		text = f.held
	}
	for i := len(text) - len(p); i < len(text); i++ {
		if f.at == 0 && f.redactor.roots[text[i]] == 0 {
			continue
		}
		f.at = f.redactor.next(f.at, text[i])
		if n := int(f.redactor.nodes[f.at].found); n > 0 {
			f.add(i+1-n, i+1)
		}
	}
	decided := len(text)
	if !end {
		decided -= int(f.redactor.nodes[f.at].depth)
	}
	out := text[:decided]
	if len(f.held) > 0 || len(f.matches) > 0 {
		out = f.release(text, decided)
	}
	f.held = append(f.held[:0], text[decided:]...)
	return out
}

// add adds a value or a match. A match ends after all earlier ones and is merged
// with those that it overlaps.
func (f *filter) add(from, to int) {
	s := span{from: from, to: to}
	for len(f.matches) > 0 {
		last := f.matches[len(f.matches)-1]
		if last.to <= s.from {
			break
		}
		s.from, s.written = min(s.from, last.from), s.written || last.written
		f.matches = f.matches[:len(f.matches)-1]
	}
	f.matches = append(f.matches, s)
}

// release returns the text up to decided with every match replaced.
func (f *filter) release(text []byte, decided int) []byte {
	f.out = f.out[:0]
	at := 0 // everything before it is written
	rest := f.matches[:0]
	for _, s := range f.matches {
		if s.from <= decided {
			f.out = append(f.out, text[at:max(at, s.from)]...)
			if !s.written {
				f.out = append(f.out, replacement...)
				s.written = true
			}
			at = max(at, s.to)
		}
		if s.to > decided {
			rest = append(rest, span{s.from - decided, s.to - decided, s.written})
		}
	}
	if at < decided {
		f.out = append(f.out, text[at:decided]...)
	}
	f.matches = rest
	return f.out
}
