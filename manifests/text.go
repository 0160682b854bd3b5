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
	string
	starts   []int // of the lines, made when first asked for
	comments bool  // there may be some behind values
	marks    bool  // there may be an exclamation mark before a value
}

// longLine is how long a line is that nobody has written by hand, in bytes:
// looking for places in it would take too long.
const longLine = 2000

// line returns the nth line, counted from 1, "" when there is none.
func (t *text) line(n int) string {
	if t.starts == nil {
		t.starts = append(make([]int, 0, 1+strings.Count(t.string, "\n")), 0)
		for i := range len(t.string) {
			if c := t.string[i]; c == '\n' || c == '\r' {
				t.starts = append(t.starts, i+1)
			}
		}
	}
	if n < 1 || n > len(t.starts) {
		return ""
	}
	start, end := t.starts[n-1], len(t.string)
	if n < len(t.starts) {
		end = t.starts[n] - 1
	}
	return t.string[start:end]
}

// place returns the line and column of an offset, both from 1.
func (t *text) place(offset int) (line, column int) {
	before := t.string[:offset]
	start := strings.LastIndexAny(before, "\n\r") + 1
	return 1 + strings.Count(before, "\n") + strings.Count(before, "\r"), 1 + utf8.RuneCountInString(before[start:])
}

// newText checks that bytes are a text that YAML takes. Otherwise it returns
// what is wrong; the place of the problem lacks its file.
func newText(data []byte) (text, *model.Problem) {
	start := model.Pos{Line: 1, Column: 1}
	if len(data) > MaxSize {
		return text{}, &model.Problem{Pos: start, Message: "the manifest is larger than 16 MiB", Suggestion: "split it into several manifests"}
	}
	if name := wide(data); name != "" {
		return text{}, &model.Problem{Pos: start, Message: "the file is " + name + " text", Suggestion: "save it as UTF-8"}
	}
	t := text{string: string(bytes.TrimPrefix(data, []byte("\ufeff")))}
	if strings.Contains(t.string, "\r\n") {
		t.string = strings.ReplaceAll(t.string, "\r\n", "\n")
	}
	t.comments = strings.Contains(t.string, " #")
	t.marks = strings.Contains(t.string, "! ") || strings.Contains(t.string, "!\n")
	at, message, suggestion := t.strange()
	if message == "" {
		return t, nil
	}
	p := &model.Problem{Message: message, Suggestion: suggestion}
	p.Line, p.Column = t.place(at)
	return t, p
}

// strange finds the first character that cannot stand in YAML.
func (t *text) strange() (at int, message, suggestion string) {
	for i := 0; i < len(t.string); {
		if c := t.string[i]; 0x20 <= c && c < 0x7F || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(t.string[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return i, "a byte that is not UTF-8", "save the file as UTF-8"
		case r < 0xA0 && r != 0x85, r == 0xFFFE, r == 0xFFFF:
			return i, "a control character", `write it as an escape in double quotes, such as "\e"`
		}
		i += size
	}
	return 0, "", ""
}

// maxSigns bounds how much may look like a value, before there is a tree that
// would count them: the tree takes some 350 bytes for each. It is half more than
// maxValues, for what only looks so: a comma in a sentence.
const maxSigns = maxValues + maxValues/2

// dense returns the place at which a text cannot be a manifest of maxValues any
// more, -1 when it can. What is no longer than its signs could be is not looked
// at: that is every manifest that people write.
func (t *text) dense() int {
	if len(t.string) <= maxSigns {
		return -1
	}
	signs := 0
	for i := 0; i < len(t.string) && signs <= maxSigns; i++ {
		switch c := t.string[i]; c {
		case '[', '{', ',':
			signs++
		case '-', '?', ':':
			ends := i+1 == len(t.string) || strings.IndexByte(" \n,]}", t.string[i+1]) >= 0
			if ends || c == ':' && i > 0 && (t.string[i-1] == '"' || t.string[i-1] == '\'') {
				signs++
			}
			if ends && c == ':' { // a key, and its value
				signs++
			}
		}
		if signs > maxSigns {
			return i
		}
	}
	return -1
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

// cut returns the comment that ends a plain value's line with only one space
// between them: likely meant as part of the value. Whoever writes a comment on
// purpose separates it further, as most do.
func (t *text) cut(line, column int, value string) string {
	if !t.comments || strings.Contains(value, "\n") {
		return ""
	}
	rest := t.line(line)
	if len(rest) > longLine || !strings.Contains(rest, " #") {
		return ""
	}
	rest, ok := strings.CutPrefix(from(rest, column), value)
	if !ok || !strings.HasPrefix(rest, " #") {
		return ""
	}
	return rest
}

// from returns what stands in a line from a column on.
func from(line string, column int) string {
	for ; column > 1 && line != ""; column-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}
