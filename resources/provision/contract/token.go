package contract

import (
	"crypto/ed25519"
	"time"
)

// Token holds the claims of a server's token.
type Token struct {
	Identity    string
	Org         string
	Collectives []string
	PubSubjects []string
	PublicKey   ed25519.PublicKey
	Expires     time.Time
	Permitted   bool // it has permissions: those that follow
	Submission  bool
	Streams     bool
	Governor    bool
	ServiceHost bool
}

// Signer is the key that signs tokens: the seed of an issuer, or of a link of
// the issuer's chain together with the token of that link.
type Signer struct {
	Seed  []byte
	Token string // "" for the issuer itself
}
