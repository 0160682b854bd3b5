package provision

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/resources/provision/contract"
)

// parseSeed reads the hex form of an ed25519 seed.
func parseSeed(text string) ([]byte, error) {
	seed, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("it is not the 64 hex digits of an ed25519 seed")
	}
	return seed, nil
}

// keyBits is the size of the RSA key of a certificate request.
const keyBits = 2048

// requestedName returns the name in a certificate request, or "" for other text.
func requestedName(text string) string {
	if csr := contract.ParseRequest(text); csr != nil {
		return csr.Subject.CommonName
	}
	return ""
}

// requestOf reports whether a certificate request was made with the key.
func requestOf(text string, key crypto.Signer) bool {
	csr := contract.ParseRequest(text)
	return csr != nil && contract.EqualKeys(csr.PublicKey, key.Public())
}

// newKeyPEM makes an RSA key in PKCS #1, the form that Choria writes.
func newKeyPEM() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}

// newRequest makes a certificate request for an identity, as PEM.
func newRequest(identity string, key crypto.Signer) (string, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: identity}}, key)
	if err != nil {
		return "", fmt.Errorf("make the certificate request: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}

// publicPEM writes a public key as Choria does: RSA in PKCS #1, although the label
// PUBLIC KEY stands for PKIX.
func publicPEM(key crypto.PublicKey) (string, error) {
	if k, ok := key.(*rsa.PublicKey); ok {
		return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(k)})), nil
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("write the public key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// isHexKey says whether a text is a public key and not the name of a file.
func isHexKey(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
