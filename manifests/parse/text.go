package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
)

// Text is the text of a file as the YAML library gets it: without a byte order
// mark, and with lines that end in a newline.
type Text struct {
	All         string
	starts      []int // offsets of the lines, filled on first use
	hasComments bool  // a comment may follow a value
	hasTags     bool  // a lone exclamation mark may precede a value
}

// Line returns the nth line, counted from 1, "" when the text has fewer.
func (t *Text) Line(n int) string {
	if t.starts == nil {
		t.starts = append(make([]int, 0, 1+strings.Count(t.All, "\n")), 0)
		for i := range len(t.All) {
			if c := t.All[i]; c == '\n' || c == '\r' {
				t.starts = append(t.starts, i+1)
			}
		}
	}
	if n < 1 || n > len(t.starts) {
		return ""
	}
	start, end := t.starts[n-1], len(t.All)
	if n < len(t.starts) {
		end = t.starts[n] - 1
	}
	return t.All[start:end]
}

// Place returns the line and the column of an offset, both counted from 1.
func (t *Text) Place(offset int) (line, column int) {
	before := t.All[:offset]
	start := strings.LastIndexAny(before, "\n\r") + 1
	return 1 + strings.Count(before, "\n") + strings.Count(before, "\r"), 1 + utf8.RuneCountInString(before[start:])
}

// From returns the part of a line that begins at a column, counted from 1.
func From(line string, column int) string {
	for ; column > 1 && line != ""; column-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

// CommentBehind returns the comment that ends the line of an unquoted value when
// only one space separates them, else "". Such a comment was probably meant as
// part of the value: authors of real comments mostly leave more space.
func (t *Text) CommentBehind(line, column int, value string) string {
	if !t.hasComments || strings.Contains(value, "\n") {
		return ""
	}
	rest := t.Line(line)
	if len(rest) > entry.MaxLine || !strings.Contains(rest, " #") {
		return ""
	}
	rest, ok := strings.CutPrefix(From(rest, column), value)
	if !ok || !strings.HasPrefix(rest, " #") {
		return ""
	}
	return rest
}

// newText returns the text in data, or the problem that keeps it from being YAML.
// The place of the problem lacks its file.
func newText(data []byte) (Text, *model.Problem) {
	start := model.Pos{Line: 1, Column: 1}
	if len(data) > entry.MaxSize {
		return Text{}, &model.Problem{Pos: start, Message: "the manifest is larger than 16 MiB", Suggestion: "split it into several manifests"}
	}
	if name := wideEncoding(data); name != "" {
		return Text{}, &model.Problem{Pos: start, Message: "the file is " + name + " text", Suggestion: "save it as UTF-8"}
	}
	t := Text{All: string(bytes.TrimPrefix(data, []byte("\ufeff")))}
	if strings.Contains(t.All, "\r\n") {
		t.All = strings.ReplaceAll(t.All, "\r\n", "\n")
	}
	t.hasComments = strings.Contains(t.All, " #")
	t.hasTags = strings.Contains(t.All, "! ") || strings.Contains(t.All, "!\n")
	at, message, suggestion := t.findForbidden()
	if message == "" {
		return t, nil
	}
	p := &model.Problem{Message: message, Suggestion: suggestion}
	p.Line, p.Column = t.Place(at)
	return t, p
}

// findForbidden finds the first character that YAML does not allow. The message
// is "" when the text has fewer.
func (t *Text) findForbidden() (at int, message, suggestion string) {
	for i := 0; i < len(t.All); {
		if c := t.All[i]; 0x20 <= c && c < 0x7F || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(t.All[i:])
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

// maxSigns bounds how many characters may look like the start of a value. It is
// checked before the library builds a tree, which takes some 350 bytes for each
// value. It exceeds MaxValues by half, for commas and dashes in sentences.
const maxSigns = entry.MaxValues + entry.MaxValues/2

// findExcess returns the offset at which a text has more than maxSigns signs of a
// value, -1 when it has fewer. A text with fewer bytes than that is not searched.
func (t *Text) findExcess() int {
	if len(t.All) <= maxSigns {
		return -1
	}
	signs := 0
	for i := 0; i < len(t.All) && signs <= maxSigns; i++ {
		switch c := t.All[i]; c {
		case '[', '{', ',':
			signs++
		case '-', '?', ':':
			ends := i+1 == len(t.All) || strings.IndexByte(" \n,]}", t.All[i+1]) >= 0
			if ends || c == ':' && i > 0 && (t.All[i-1] == '"' || t.All[i-1] == '\'') {
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

// wideEncoding names the encoding of a text with more than one byte a character,
// by its byte order mark or by the zero bytes of its ASCII characters.
func wideEncoding(data []byte) string {
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
