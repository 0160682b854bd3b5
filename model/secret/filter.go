package secret

// filter is one stream through a mask.
type filter struct {
	redactor *Redactor
	at   int32  // state
	held []byte // undecided: the beginning of a value, as long as the state is deep
	matches []span // what is already found to be a value, or part of one, within held or before it
	out  []byte
}

// span is a part of a stream, as offsets from the beginning of what is held. It
// may begin before that, when its *** is out already.
type span struct {
	from, to int
	written     bool // its *** is out
}

// write takes a chunk and returns what is decided, in p itself where nothing of
// it is hidden; end decides the rest.
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

// add notes a value that was found. It ends after all that were found before;
// those that it overlaps become one with it.
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

// release returns text up to decided without what is hidden.
func (f *filter) release(text []byte, decided int) []byte {
	f.out = f.out[:0]
	at := 0 // all before it is handed out
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
