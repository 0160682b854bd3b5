package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// fromJSON returns a JSON object as YAML that means the same; anything else it
// returns as it is. JSON would be YAML but for a few characters in its texts:
// escapes of a slash and of what is not in Unicode's first plane, which other
// programs write all the time, and characters that only stand in YAML escaped.
// Every line stays the line it is.
func fromJSON(data []byte) []byte {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(data) {
		return data
	}
	made := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] == '\\' { // only in texts
			text, size := jsonEscape(data[i:])
			made, i = append(made, text...), i+size
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if onlyEscaped(r) {
			made = fmt.Appendf(made, `\u%04x`, r)
		} else {
			made = append(made, data[i:i+size]...)
		}
		i += size
	}
	return made
}

// onlyEscaped says whether a character that may stand in a JSON text as it is
// stands in one of YAML only when it is escaped.
func onlyEscaped(r rune) bool {
	return 0x7F <= r && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF
}

// jsonEscape returns what stands in YAML for the escape that a JSON text begins
// with, and how long that is.
func jsonEscape(data []byte) (text []byte, size int) {
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
	return []byte(`\ufffd`), long // half of one is no character
}
