package provision_test

import (
	stded25519 "crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	lib "github.com/choria-io/tokens"
)

// newKey makes a key pair: public key and seed in hex.
func newKey(t testing.TB) (public, seed string) {
	t.Helper()
	pub, key, err := stded25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(pub), hex.EncodeToString(key.Seed())
}

func decodeHex(t testing.TB, text string) stded25519.PublicKey {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// provisioningToken makes the token with which a server asks.
func provisioningToken(t testing.TB, seed string, validity time.Duration) string {
	t.Helper()
	claims, err := lib.NewProvisioningClaims(true, true, "toomanysecrets", "user", "s3cret", []string{"nats://broker:4222"}, "", "", "", "", "", validity)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hex.DecodeString(seed)
	if err != nil {
		t.Fatal(err)
	}
	token, err := lib.SignToken(claims, stded25519.NewKeyFromSeed(key))
	if err != nil {
		t.Fatal(err)
	}
	return token
}
