package manifests

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// MaxSize is how large a manifest may be.
const MaxSize = 16 << 20

// text is a manifest as YAML gets it: without a byte order mark, its lines
// ended by a newline each.
type text struct {
	bytes  []byte
	starts []int // of the lines, made when first asked for
}

// line returns the nth line, counted from 1, "" when there is none.
func (t *text) line(n int) string {
	if t.starts == nil {
		t.starts = []int{0}
		for i, c := range t.bytes {
			if c == '\n' || c == '\r' {
				t.starts = append(t.starts, i+1)
			}
		}
	}
	if n < 1 || n > len(t.starts) {
		return ""
	}
	start, end := t.starts[n-1], len(t.bytes)
	if n < len(t.starts) {
		end = t.starts[n] - 1
	}
	return string(t.bytes[start:end])
}

// place returns the line and column of an offset, both from 1.
func (t *text) place(offset int) (line, column int) {
	before := t.bytes[:offset]
	start := bytes.LastIndexAny(before, "\n\r") + 1
	return 1 + bytes.Count(before, []byte("\n")) + bytes.Count(before, []byte("\r")), 1 + utf8.RuneCount(before[start:])
}

// newText checks that bytes are a text that YAML takes. Otherwise it returns
// what is wrong; the place of the problem lacks its file.
func newText(data []byte) (text, *model.Problem) {
	t := text{bytes: data}
	refuse := func(offset int, message, suggestion string) (text, *model.Problem) {
		p := &model.Problem{Message: message, Suggestion: suggestion}
		if offset >= 0 {
			p.Line, p.Column = t.place(offset)
		}
		return t, p
	}
	if len(data) > MaxSize {
		return refuse(-1, "the manifest is larger than 16 MiB", "split it into several manifests")
	}
	if name := wide(data); name != "" {
		return refuse(-1, "the file is "+name+" text", "save it as UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.Contains(data, []byte("\r\n")) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	t.bytes = data
	if !utf8.Valid(data) {
		return refuse(invalid(data), "a byte that is not UTF-8", "save the file as UTF-8")
	}
	if at := bytes.IndexFunc(data, control); at >= 0 {
		return refuse(at, "a control character", `write it as an escape in double quotes, such as "\e"`)
	}
	return t, nil
}

// wide names the encodings with more than one byte a character, by their marks
// or by the zero bytes that ASCII has in them.
func wide(data []byte) string {
	switch {
	case len(data) < 2:
		return ""
	case bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}), bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}):
		return "UTF-32"
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}), bytes.HasPrefix(data, []byte{0xFF, 0xFE}),
		data[0] == 0 && data[1] != 0, data[0] != 0 && data[1] == 0:
		return "UTF-16"
	}
	return ""
}

func invalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// control says whether YAML forbids a character to stand for itself.
func control(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return false
	}
	return r < 0x20 || 0x7F <= r && r < 0xA0 || r == 0xFFFE || r == 0xFFFF
}

// cut returns the comment that ends a plain value's line with only one space
// between them: likely meant as part of the value. Whoever writes a comment on
// purpose separates it further, as most do.
func (t *text) cut(line, column int, value string) string {
	if strings.Contains(value, "\n") {
		return ""
	}
	rest := t.line(line)
	if !strings.Contains(rest, " #") {
		return ""
	}
	for ; column > 1 && rest != ""; column-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	rest, ok := strings.CutPrefix(rest, value)
	if !ok || !strings.HasPrefix(rest, " #") {
		return ""
	}
	return rest
}
