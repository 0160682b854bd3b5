package secret

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quotedForms returns a text as it is and in every form that quoting gives it: the
// ways in which a shell quotes it, and each of them again as a Go string or as
// JSON. Only the text between the quotes counts.
func quotedForms(text string) []string {
	var forms []string
	for _, quoted := range []string{
		text,
		strings.ReplaceAll(text, "'", `'\''`), // single quotes
		inDouble.Replace(text),                // double quotes
		quoteBytes(text),                      // no quotes, a backslash before each special byte
		quoteANSI(text),                       // $'…', as shells trace commands
	} {
		forms = append(forms, quoted, unquoted(strconv.Quote(quoted)), unquoted(strconv.QuoteToASCII(quoted)))
		for _, f := range []jsonForm{{}, {slash: true}, {html: true}, {ascii: true}, {ascii: true, slash: true}, {ascii: true, html: true}, {ascii: true, upper: true}, {all: true}} {
			forms = append(forms, f.quote(quoted))
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

func unquoted(text string) string { return text[1 : len(text)-1] }

var inDouble = strings.NewReplacer(`\`, `\\`, `$`, `\$`, `"`, `\"`, "`", "\\`")

// quoteBytes puts a backslash before every byte that a shell may interpret.
func quoteBytes(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		word := c >= utf8.RuneSelf || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !word && !strings.ContainsRune("_@%+=:,./-\n", rune(c)) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// quoteANSI quotes as $'…' does.
func quoteANSI(text string) string {
	const named = "\a\b\x1b\f\n\r\t\v\\'"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch at := strings.IndexByte(named, c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`abEfnrtv\'`[at])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// jsonForm is a style in which programs write a JSON string.
type jsonForm struct {
	slash bool // \/
	html  bool // \u003c for <, > and &, and the line ends of JavaScript
	ascii bool // \u for everything outside ASCII
	all   bool // \u for everything
	upper bool // \u00E9
}

func (f jsonForm) quote(text string) string {
	const named = "\"\\\b\f\n\r\t"
	digits := `\u%04x`
	if f.upper {
		digits = `\u%04X`
	}
	var b strings.Builder
	for _, r := range text {
		at := -1
		if r < utf8.RuneSelf {
			at = strings.IndexByte(named, byte(r))
		}
		switch {
		case f.all, f.ascii && r >= 0x7f, f.html && strings.ContainsRune("<>&\u2028\u2029", r), r < ' ' && at < 0:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, digits, unit)
			}
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[at])
		case f.slash && r == '/':
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
