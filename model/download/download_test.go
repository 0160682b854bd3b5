package download

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

func TestParseChecksum(t *testing.T) {
	t.Parallel()
	short, long := strings.Repeat("aB", 32), strings.Repeat("0f", 64)
	for _, tt := range []struct{ text, want, message string }{
		{short, "sha256:" + strings.ToLower(short), ""},
		{"sha256:" + short, "sha256:" + strings.ToLower(short), ""},
		{"SHA512:" + long, "sha512:" + long, ""},
		{"md5:" + short, "", `unknown algorithm "md5"`},
		{"sha512:" + short, "", "sha512 has 128 hexadecimal digits, not 64"},
		{"", "", "sha256 has 64 hexadecimal digits, not 0"},
		{"sha256:" + strings.Repeat("x", 64), "", "a checksum has hexadecimal digits only"},
	} {
		c, err := ParseChecksum(tt.text)
		if c.String() != tt.want || (err == nil) != (tt.message == "") {
			t.Errorf("%q: %q, %v", tt.text, c, err)
		}
		if err != nil && (err.Error() != tt.message || model.SuggestionOf(err) == "") {
			t.Errorf("%q: %v, %q", tt.text, err, model.SuggestionOf(err))
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	any := Checksum{}
	h := any.New()
	h.Write([]byte("abc"))
	is := any.Of(h)
	if is.String() != "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(is)
	}
	if any.Verify(is) != nil || is.Verify(is) != nil {
		t.Error("a content is refused that has the declared sum")
	}
	other := Checksum{"sha256", strings.Repeat("0", 64)}
	if err := other.Verify(is); err == nil || !strings.Contains(err.Error(), is.Hex) || !strings.Contains(err.Error(), other.Hex) {
		t.Error(err)
	}
}
