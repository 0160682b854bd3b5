package secret

import (
	"fmt"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

var _ model.Redactor = (*Redactor)(nil).Stream

// naive hides by definition: a byte is hidden when some occurrence of some
// value covers it, and each run of occurrences that overlap is one ***.
func naive(values []string, text string) string {
	ends := make([]int, len(text)+1) // ends[i]: how far the longest value that begins at i reaches
	for i := range text {
		for _, v := range values {
			if strings.HasPrefix(text[i:], v) {
				ends[i] = max(ends[i], i+len(v))
			}
		}
	}
	var out strings.Builder
	for i, end := 0, 0; i < len(text); i++ {
		if ends[i] > 0 && i >= end {
			out.WriteString("***")
		}
		end = max(end, ends[i])
		if i >= end {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func TestRedact(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []string
		text   string
		want   string
	}{
		{"nothing to hide", nil, "plain", "plain"},
		{"only the value is hidden", []string{"s3cr3t"}, "https://s3cr3t@host/", "https://***@host/"},
		{"each occurrence by itself", []string{"abcd"}, "abcdabcd abcd", "****** ***"},
		{"the longest wins", []string{"abcd", "abcdef"}, "abcdef abcde", "*** ***e"},
		{"a longer one that begins earlier wins", []string{"bcde", "abcdef"}, "abcdef abcdeg", "*** a***g"},
		{"overlapping ones are one", []string{"abcd", "cdef"}, "abcdef", "***"},
		{"a value that overlaps itself", []string{"abab"}, "ababab", "***"},
		{"a beginning is no occurrence", []string{"abcd"}, "abc", "abc"},
		{"a false start", []string{"aaab"}, "aaaab", "a***"},
		{"a value with line ends around it", []string{"s3cr3t\n"}, "s3cr3t\nnext s3cr3t", "***\nnext ***"},
		{"a value with spaces around it", []string{"  s3cr3t "}, "[  s3cr3t ] [s3cr3t]", "[  *** ] [***]"},
		{"all lines at once", []string{"first line\nfour\nsecond line"}, "x first line\nfour\nsecond line y", "x *** y"},
		{"each line by itself, indented", []string{"first line\r\nfour\r\n  second line"}, "  first line|four|second line", "  ***|***|***"},
		{"quoted in a message", []string{"a\"b\\c\td"}, fmt.Sprintf("%q", "x a\"b\\c\td y"), `"x *** y"`},
		{"quoted in a command line", []string{"it's s3cr3t"}, `echo 'it'\''s s3cr3t'`, "echo '***'"},
		{"in double quotes", []string{"a$b`c\"d\\e"}, "echo \"x a\\$b\\`c\\\"d\\\\e y\"", `echo "x *** y"`},
		{"without quotes", []string{"a b$c"}, `echo a\ b\$c`, "echo ***"},
		{"as a shell traces it", []string{"it's\tnew\nline"}, `+ echo $'it\'s\tnew\nline'`, "+ echo $'***'"},
		{"a command line quoted in a message", []string{"p$ss'w"}, fmt.Sprintf("%q", `echo "p\$ss'w" 'p$ss'\''w'`), `"echo \"***\" '***'"`},
		{"as JSON", []string{"a<b>/\"é😀"}, `"a<b>/\"é😀" "a\u003cb\u003e/\"é😀" "a<b>\/\"\u00e9\ud83d\ude00" "a<b>/\"\u00E9\uD83D\uDE00"`, `"***" "***" "***" "***"`},
		{"as JSON that escapes everything", []string{"s3cr3t"}, `"\u0073\u0033\u0063\u0072\u0033\u0074"`, `"***"`},
		{"a line, quoted", []string{"first\nsay \"hello\""}, `say \"hello\"`, "***"},
		{"bytes that are no text", []string{"\xff\x00\xfe\x01"}, "a\xff\x00\xfe\x01b", "a***b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, short := New(tt.values)
			if len(short) != 0 {
				t.Errorf("too short: %q", short)
			}
			if got := m.Redact(tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestShortValuesAreRefused(t *testing.T) {
	m, short := New([]string{"", "abc", "\nxy\n", "long enough", "first line\n\n  ab\nlast line"})
	if len(short) != 3 || short[0] != "abc" || short[1] != "\nxy\n" || short[2] != "ab" {
		t.Errorf("short = %q", short)
	}
	if got := m.Redact("abc xy long enough"); got != "abc xy ***" {
		t.Errorf("got %q", got)
	}
	if m, _ := New([]string{"abc"}); m != nil {
		t.Error("a mask of nothing is not nil")
	}
}

// TestStreamHoldsBackOnlyPossibleValues feeds single bytes and checks the output of each.
func TestStreamHoldsBackOnlyPossibleValues(t *testing.T) {
	m, _ := New([]string{"abcd", "abcdefgh", "bcx1"})
	write := m.Stream()
	for _, step := range []struct{ in, out string }{
		{"x", "x"}, {"a", ""}, {"b", ""}, {"c", ""}, {"x", "a"}, {"1", "***"}, // "bcx1" decides "a"
		{"a", ""}, {"b", ""}, {"c", ""}, {"d", "***"}, {"e", ""}, {"f", ""}, {"!", "ef!"},
		{"a", ""}, {"b", ""}, {"-", "ab-"},
		{"abcdefgh", "***"}, {"a", ""}, {"b", ""},
	} {
		if got := string(write([]byte(step.in), false)); got != step.out {
			t.Errorf("after %q: got %q, want %q", step.in, got, step.out)
		}
	}
	if got := string(write(nil, true)); got != "ab" {
		t.Errorf("at the end: got %q", got)
	}
}

func FuzzChunks(f *testing.F) {
	f.Add("abcd\nabab", "xabcdababcdy", uint64(3))
	f.Add("aaab\naaaa", "aaaaaaab", uint64(0x5555))
	f.Add("abcd\nbcdefg\ndefg1\nfgabcd", "abcdefgabcdefg1abcdbcdefgabcd", uint64(0x9249))
	f.Fuzz(func(t *testing.T, lines, text string, cuts uint64) {
		var values []string
		for v := range strings.SplitSeq(lines, "\n") {
			if v = strings.TrimSpace(v); len(v) >= minLength && !strings.Contains(v, "\r") {
				values = append(values, v)
			}
		}
		m, _ := New(values)
		var forms []string
		for _, v := range values {
			forms = append(forms, quotedForms(v)...)
		}
		want := naive(forms, text)
		if got := m.Redact(text); got != want {
			t.Fatalf("whole: got %q, want %q", got, want)
		}
		write := m.Stream()
		var got strings.Builder
		from := 0
		for i := range text {
			if cuts>>(i%64)&1 == 1 {
				got.Write(write([]byte(text[from:i]), false))
				from = i
			}
		}
		got.Write(write([]byte(text[from:]), true))
		if got.String() != want {
			t.Fatalf("in pieces: got %q, want %q", got.String(), want)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	text := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog, again and again\n", 1000))
	for _, tt := range []struct {
		name   string
		values []string
	}{{"none", nil}, {"one", []string{"s3cr3t-value"}}, {"many", []string{"s3cr3t-value", "the quicker", "another one", "again then", "lazy cat", "brown bear"}}} {
		b.Run(tt.name, func(b *testing.B) {
			m, _ := New(tt.values)
			write := m.Stream()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				write(text, false)
			}
		})
	}
}
