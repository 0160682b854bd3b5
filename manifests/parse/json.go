package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// FromJSON returns a JSON object as YAML of the same meaning, and other data as it
// is. JSON differs from YAML in a few characters of its texts: the escapes of a
// slash and of characters above U+FFFF, and characters that YAML only allows
// escaped. Every line keeps its number, so that places stay right.
func FromJSON(data []byte) []byte {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(data) {
		return data
	}
	made := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] == '\\' { // valid JSON has backslashes in texts only
			text, size := convertEscape(data[i:])
			made, i = append(made, text...), i+size
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if NeedsEscape(r) {
			made = fmt.Appendf(made, `\u%04x`, r)
		} else {
			made = append(made, data[i:i+size]...)
		}
		i += size
	}
	return made
}

// NeedsEscape reports whether YAML only allows a character escaped, although a
// text of JSON may hold it as it is.
func NeedsEscape(r rune) bool {
	return 0x7F <= r && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF
}

// convertEscape returns the YAML for the escape that data begins with, and how
// many bytes of data it replaces.
func convertEscape(data []byte) (text []byte, size int) {
	const long = len(`\u0000`)
	unit := func(i int) rune {
		if len(data) < i+long || data[i] != '\\' || data[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(data[i+2:i+long]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	first := unit(0)
	switch {
	case data[1] == '/':
		return data[1:2], 2
	case first < 0:
		return data[:2], 2
	case !utf16.IsSurrogate(first):
		return data[:long], long
	}
	if r := utf16.DecodeRune(first, unit(long)); r != utf8.RuneError {
		return fmt.Appendf(nil, `\U%08x`, r), 2 * long
	}
	return []byte(`\ufffd`), long // half of a surrogate pair is not a character
}
