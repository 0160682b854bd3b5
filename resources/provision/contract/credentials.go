package contract

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// credentials checks key, certificate and ca against each other, against our
// own key, and against the identity.
func (j *judge) credentials() {
	own := j.s.Key
	if j.Key != "" {
		key, err := ParseKey(j.Key)
		if err != nil {
			j.refuse("$.key", err.Error(), "")
		} else {
			own = key.Public()
		}
	}
	var cert *x509.Certificate
	if j.Certificate != "" {
		certs, err := ParseCertificates(j.Certificate)
		if err != nil {
			j.refuse("$.certificate", err.Error(), "")
		} else {
			cert = certs[0]
		}
	}
	if j.CA != "" {
		if _, err := ParseCertificates(j.CA); err != nil {
			j.refuse("$.ca", err.Error(), "")
		}
	}
	j.together()
	if cert != nil {
		j.fitsUs(cert, own)
	}
}

// together checks that fields which need each other are all present.
func (j *judge) together() {
	dir := j.SSLDir
	if j.s.SSLDir != "" {
		dir = j.s.SSLDir
	}
	switch {
	case strings.ContainsFunc(j.SSLDir, control):
		j.refuse("$.ssldir", "the directory has a control character in it", "")
	case j.SSLDir != "" && !filepath.IsAbs(j.SSLDir):
		j.refuse("$.ssldir", fmt.Sprintf("%q is not an absolute directory", j.SSLDir), "")
	case j.SSLDir != "" && filepath.Clean(dir) != filepath.Clean(j.SSLDir):
		j.warn("$.ssldir", fmt.Sprintf("is ignored: the credentials go to %s", dir), "answer with the ssldir of the csr")
	}
	if j.Certificate == "" {
		if j.CA != "" {
			j.refuse("$.ca", "a ca without a certificate", "answer with both or none")
		}
		if j.SSLDir != "" && j.Key == "" {
			j.refuse("$.ssldir", "an ssldir without a certificate", "answer with certificate, ca and ssldir, or none of them")
		}
		if j.Key != "" {
			j.warn("$.key", "a key without a certificate", "answer with key, certificate, ca and ssldir")
		}
		return
	}
	if j.CA == "" {
		j.refuse("$.certificate", "a certificate without a ca", "answer with certificate, ca and ssldir")
	}
	if dir == "" {
		j.refuse("$.certificate", "a certificate without an ssldir", "answer with certificate, ca and ssldir")
	}
}

// fitsUs checks that a certificate is one that this server can use.
func (j *judge) fitsUs(cert *x509.Certificate, own crypto.PublicKey) {
	path := "$.certificate"
	switch {
	case own == nil:
		j.warn(path, "there is no private key for the certificate", "answer with the key, or turn on the feature pki")
	case EqualKeys(own, cert.PublicKey):
	case j.Key != "":
		j.refuse(path, "the certificate is not for the key beside it", "")
	case j.s.Features.PKI:
		j.refuse(path, "the certificate is not for our key", "sign the csr that came with this request")
	default:
		j.refuse(path, "the certificate is not for the private key that the server has", "")
	}
	if cn := cert.Subject.CommonName; cn != j.s.Identity {
		j.refuse(path, fmt.Sprintf("the certificate is for %q, not for %q", cn, j.s.Identity), "")
	}
	switch {
	case j.s.Now.After(cert.NotAfter):
		j.refuse(path, "the certificate expired on "+cert.NotAfter.UTC().Format("2006-01-02"), "")
	case j.s.Now.Before(cert.NotBefore):
		j.warn(path, "the certificate is not valid before "+cert.NotBefore.UTC().Format("2006-01-02 15:04 UTC"), "")
	}
}

// EqualKeys says whether two public keys are one.
func EqualKeys(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// pemBlocks returns the blocks of a PEM text, and refuses a text with a block
// that cannot be read: the standard library steps over those.
func pemBlocks(text string) ([]*pem.Block, error) {
	var blocks []*pem.Block
	rest := []byte(text)
	for {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		blocks = append(blocks, b)
	}
	switch n := strings.Count(text, "-----BEGIN "); {
	case n == 0:
		return nil, errors.New("is not PEM: it has no -----BEGIN line")
	case n != len(blocks):
		return nil, fmt.Errorf("is not PEM: %d of its %d blocks can be read", len(blocks), n)
	}
	return blocks, nil
}

// ParseCertificates reads a chain, the server's own certificate first.
func ParseCertificates(text string) ([]*x509.Certificate, error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, b := range blocks {
		if b.Type != "CERTIFICATE" && b.Type != "X509 CERTIFICATE" {
			return nil, fmt.Errorf("holds a %s where a certificate belongs", strings.ToLower(b.Type))
		}
		cert, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("holds no certificate: %w", err)
		}
		certs = append(certs, cert)
	}
	return certs, nil
}

// ParseKey reads a private key in any of its usual forms.
func ParseKey(text string) (crypto.Signer, error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		var key any
		switch b.Type {
		case "EC PARAMETERS": // openssl writes them in front of the key
			continue
		case "RSA PRIVATE KEY":
			if b.Headers["DEK-Info"] != "" {
				return nil, errors.New("the private key is encrypted")
			}
			key, err = x509.ParsePKCS1PrivateKey(b.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(b.Bytes)
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(b.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the private key is encrypted")
		default:
			return nil, fmt.Errorf("holds a %s where a private key belongs", strings.ToLower(b.Type))
		}
		if err != nil {
			return nil, errors.New("holds no private key that can be read") // the cause might quote it
		}
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
		return nil, errors.New("holds a private key that cannot sign")
	}
	return nil, errors.New("holds no private key")
}

// ParseRequest returns the certificate request in a PEM text, nil when there is
// none or its signature is wrong.
func ParseRequest(text string) *x509.CertificateRequest {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil || csr.CheckSignature() != nil {
		return nil
	}
	return csr
}
