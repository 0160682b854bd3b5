// Package tokens verifies the token with which a server asks to be provisioned,
// and signs the one that it gets, as Choria does. It knows keys and claims;
// where they are kept is for others.
package tokens

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lib "github.com/choria-io/tokens"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// Issuer is the name that signs tokens without a chain.
const Issuer = "Choria Provisioner"

// Verify checks a provisioning token against a public key, PEM or hex, and
// returns its claims as JSON, numbers as they are written.
func Verify(token, key string) ([]byte, error) {
	token = strings.TrimSpace(token)
	pk, err := publicKey(key)
	if err != nil {
		return nil, err
	}
	verified, err := lib.ParseProvisioningToken(token, pk)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "could not parse provisioner token: "))
	}
	// The library has read numbers as floating point, which changes large ones.
	var claims lib.ProvisioningClaims
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(payload))
		d.UseNumber()
		err = d.Decode(&claims)
	}
	if err != nil {
		return nil, fmt.Errorf("read the claims: %w", err)
	}
	claims.OrganizationUnit = verified.OrganizationUnit
	return json.Marshal(&claims)
}

// publicKey reads an RSA or ed25519 public key.
func publicKey(text string) (any, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "-----BEGIN ") {
		key, err := hex.DecodeString(text)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, errors.New("the key is neither PEM nor the 64 hex digits of an ed25519 public key")
		}
		return ed25519.PublicKey(key), nil
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the key is broken PEM")
	}
	var key any
	cert, err := x509.ParseCertificate(block.Bytes)
	if err == nil {
		key = cert.PublicKey
	} else if key, err = x509.ParsePKIXPublicKey(block.Bytes); err != nil {
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	}
	switch key.(type) {
	case *rsa.PublicKey, ed25519.PublicKey:
		if err == nil {
			return key, nil
		}
	}
	return nil, fmt.Errorf("the PEM block %q holds no RSA or ed25519 public key", block.Type)
}

// Sign makes the token of a server. The expiry of the signer's own token is
// the latest that it can have.
func Sign(s contract.Token, by contract.Signer) (string, error) {
	claims, key, _, err := prepare(s, by)
	if err != nil {
		return "", err
	}
	token, err := lib.SignToken(claims, key)
	if err != nil {
		return "", fmt.Errorf("sign the server's token: %w", err)
	}
	return token, nil
}

// prepare returns the claims of a server's token, the key that signs them and the
// key that verifies the result.
func prepare(s contract.Token, by contract.Signer) (*lib.ServerClaims, ed25519.PrivateKey, ed25519.PublicKey, error) {
	if len(by.Seed) != ed25519.SeedSize {
		return nil, nil, nil, errors.New("the signing key is not a seed of 32 bytes")
	}
	key := ed25519.NewKeyFromSeed(by.Seed)
	root := key.Public().(ed25519.PublicKey)
	var permissions *lib.ServerPermissions
	if s.Permitted {
		permissions = &lib.ServerPermissions{Submission: s.Submission, Streams: s.Streams, Governor: s.Governor, ServiceHost: s.ServiceHost}
	}
	claims, err := lib.NewServerClaims(s.Identity, s.Collectives, s.Org, permissions, s.PubSubjects, s.PublicKey, Issuer, time.Hour)
	if err != nil {
		return nil, nil, nil, err
	}
	claims.ExpiresAt.Time = s.Expires.Truncate(time.Second)
	if by.Token == "" {
		return claims, key, root, nil
	}
	link, root, err := chainLink(by.Token)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the signer's token: %w", err)
	}
	if link.PublicKey != hex.EncodeToString(key.Public().(ed25519.PublicKey)) {
		return nil, nil, nil, errors.New("the signing key is not the one that the signer's token is for")
	}
	if err := claims.AddChainIssuerData(link, key); err != nil {
		return nil, nil, nil, fmt.Errorf("chain the token to its signer: %w", err)
	}
	return claims, key, root, nil
}

// chainLink returns the claims of a chained signer's token, and the issuer's key.
func chainLink(token string) (*lib.ClientIDClaims, ed25519.PublicKey, error) {
	token = strings.TrimSpace(token)
	claims, err := lib.ParseClientIDTokenUnverified(token)
	if err != nil {
		return nil, nil, err
	}
	issuer, ok := strings.CutPrefix(claims.Issuer, lib.OrgIssuerPrefix)
	root, err := hex.DecodeString(issuer)
	if !ok || err != nil || len(root) != ed25519.PublicKeySize || !claims.IsChainedIssuer(true) {
		return nil, nil, errors.New("it is not one that an issuer lets sign others")
	}
	if claims.ExpiresAt != nil && time.Now().After(claims.ExpiresAt.Time) {
		return nil, nil, fmt.Errorf("it expired on %s", claims.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC"))
	}
	verified, err := lib.ParseClientIDToken(token, ed25519.PublicKey(root), true)
	if err != nil {
		return nil, nil, err
	}
	return verified, root, nil
}

// IsCurrent reports whether a token is as good as a new one: it verifies, its
// claims are the wanted ones, and a third of its validity is left. A wanted expiry
// matches an equal moment, and also an equal length of validity. Otherwise a caller
// that always asks for one year from now would get a new token at every call.
func IsCurrent(token string, s contract.Token, by contract.Signer) (bool, error) {
	want, _, root, err := prepare(s, by)
	if err != nil {
		return false, err
	}
	have, err := lib.ParseServerToken(token, root)
	if err != nil || have.ExpiresAt == nil || have.IssuedAt == nil {
		return false, nil //nolint:nilerr // one that does not verify is not worth keeping: that is no failure
	}
	same := have.ChoriaIdentity == want.ChoriaIdentity && have.OrganizationUnit == want.OrganizationUnit &&
		have.PublicKey == want.PublicKey && have.Issuer == want.Issuer &&
		slices.Equal(have.Collectives, want.Collectives) &&
		slices.Equal(have.AdditionalPublishSubjects, want.AdditionalPublishSubjects) &&
		(have.Permissions == nil) == (want.Permissions == nil) &&
		(have.Permissions == nil || *have.Permissions == *want.Permissions)
	if !same {
		return false, nil
	}
	now := want.IssuedAt.Time
	whole, wanted := have.ExpiresAt.Sub(have.IssuedAt.Time), want.ExpiresAt.Sub(now)
	if have.ExpiresAt.Sub(now) < whole/3 {
		return false, nil
	}
	const slip = 100 // parts of the length by which two lengths may differ and still be one
	return have.ExpiresAt.Equal(want.ExpiresAt.Time) || (wanted-whole).Abs() <= max(time.Minute, wanted/slip), nil
}
