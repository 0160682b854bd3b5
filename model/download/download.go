// Package download describes the download of one file: the request, the checksum
// that its content must have, and the functions that types get for it. It holds
// values only; providers/fetch has the functions.
package download

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/settle-cm/settle/model"
)

// Request is one download.
type Request struct {
	URL      string
	Headers  []model.Pair // sent to the host of URL only
	Username string       // of basic authentication; "" with an empty Password: none
	Password string
	Checksum Checksum // of the content; the zero value: any content
	// Progress is called from time to time with the bytes so far and the length
	// that the server announced, -1 when it announced none. nil: not called.
	Progress func(done, length int64)
}

// Functions check and download URLs.
type Functions struct {
	// Check returns an error when a text is no URL that Get accepts. The error
	// may carry a suggestion (model.SuggestionOf).
	Check func(url string) error
	// Get writes the content at the URL to w and returns its checksum: by the
	// algorithm of the request, else by SHA-256. It fails when the content is cut
	// short or has another checksum than the request; w has received it by then.
	Get func(ctx context.Context, r Request, w io.Writer) (Checksum, error)
}

// Checksum is a checksum of a content. The zero value is no checksum.
type Checksum struct {
	Algorithm string // sha256 or sha512
	Hex       string // in lower case
}

const (
	sha256Name = "sha256"
	sha512Name = "sha512"
)

// ParseChecksum reads sha256:HEX, sha512:HEX, or the digits of SHA-256 alone. Its
// error carries a suggestion.
func ParseChecksum(text string) (Checksum, error) {
	algorithm, digits, ok := strings.Cut(text, ":")
	if !ok {
		algorithm, digits = sha256Name, text
	}
	c := Checksum{Algorithm: strings.ToLower(algorithm), Hex: strings.ToLower(digits)}
	if c.Algorithm != sha256Name && c.Algorithm != sha512Name {
		return Checksum{}, model.NewAdvice(fmt.Sprintf("unknown algorithm %q", algorithm), "write sha256:HEX or sha512:HEX")
	}
	want := hex.EncodedLen(c.New().Size())
	if len(digits) != want {
		return Checksum{}, model.NewAdvice(fmt.Sprintf("%s has %d hexadecimal digits, not %d", c.Algorithm, want, len(digits)), "copy the whole sum")
	}
	if _, err := hex.DecodeString(digits); err != nil {
		return Checksum{}, model.NewAdvice("a checksum has hexadecimal digits only", "write "+c.Algorithm+": and "+fmt.Sprint(want)+" of 0-9 and a-f")
	}
	return c, nil
}

// String returns ALGORITHM:HEX, "" for the zero value.
func (c Checksum) String() string {
	if c.Hex == "" {
		return ""
	}
	return c.Algorithm + ":" + c.Hex
}

// New returns a hash of the checksum's algorithm, of SHA-256 for the zero value.
func (c Checksum) New() hash.Hash {
	if c.Algorithm == sha512Name {
		return sha512.New()
	}
	return sha256.New()
}

// Of returns the checksum that a hash from New has computed.
func (c Checksum) Of(h hash.Hash) Checksum {
	algorithm := c.Algorithm
	if algorithm == "" {
		algorithm = sha256Name
	}
	return Checksum{Algorithm: algorithm, Hex: hex.EncodeToString(h.Sum(nil))}
}

// Verify returns an error when a content has another checksum than c. The zero
// value accepts every content.
func (c Checksum) Verify(is Checksum) error {
	if c.Hex == "" || c == is {
		return nil
	}
	return fmt.Errorf("%s is %s, not %s: nothing was changed", c.Algorithm, is.Hex, c.Hex)
}
