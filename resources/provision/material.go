package provision

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/resources/provision/contract"
)

// material is the server's side of an exchange: its keys, its claims and
// its inventory.
type material struct {
	key     crypto.Signer // nil without the feature pki
	keyPEM  string
	csrPEM  string
	seed    ed25519.PrivateKey // nil without the feature ed25519
	claims  json.RawMessage
	version string
	input   []byte
	pending []target // new keys, to be stored before the helper starts
	secrets []string
}

// prepare gathers the input of the helper. It writes no file.
func (s *server) prepare(ctx context.Context) (*material, error) {
	m := &material{}
	in := contract.Input{Identity: s.identity}
	if s.features.JWT {
		if err := s.verifyToken(m); err != nil {
			return nil, err
		}
		in.JWT = m.claims
	}
	if s.features.Ed25519 {
		reply, err := s.ownSeed(m)
		if err != nil {
			return nil, err
		}
		in.Ed25519 = reply
	}
	if s.features.PKI {
		reply, err := s.ownRequest(m)
		if err != nil {
			return nil, err
		}
		in.CSR = reply
	}
	inventory, err := s.takeInventory(ctx)
	if err != nil {
		return nil, err
	}
	m.version = inventory.Version
	if in.Inventory, err = inventory.Encode(); err != nil {
		return nil, err
	}
	m.input, err = in.Encode()
	return m, err
}

// verifyToken reads and verifies the provisioning token of the server.
func (s *server) verifyToken(m *material) error {
	token, err := s.read(s.jwt)
	if err != nil {
		return fmt.Errorf("verify the provisioning token: %w", err)
	}
	key := s.verify
	if !isHexKey(key) {
		if key, err = s.read(s.verify); err != nil {
			return fmt.Errorf("verify the provisioning token: %w", err)
		}
	}
	claims, err := s.w.Tokens.Verify(token, key)
	if err != nil {
		return fmt.Errorf("verify the provisioning token %s: %w", s.jwt, err)
	}
	m.claims = claims
	var secret struct{ Cht, Chpwd string }
	_ = json.Unmarshal(claims, &secret) // claims without these fields have no secret
	m.secrets = append(m.secrets, secret.Cht, secret.Chpwd)
	return nil
}

// findOrMakeKey returns the key for a path: the present one (unless anew is set), the
// pending one of an earlier exchange, or a new one. fits parses a key.
func (s *server) findOrMakeKey(m *material, path string, anew bool, fits func(text string) error, create func() (string, error)) (string, error) {
	text, ok, err := s.readIfThere(path)
	if err != nil {
		return "", err
	}
	if ok && !anew {
		if err := fits(text); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		return text, nil
	}
	waits := s.pendingPath(path)
	if waits != "" {
		if text, ok, err = s.readIfThere(waits); err != nil {
			return "", err
		}
		if ok && fits(text) == nil {
			return text, nil
		}
	}
	if text, err = create(); err != nil {
		return "", fmt.Errorf("make %s: %w", path, err)
	}
	if waits != "" {
		m.pending = append(m.pending, target{path: waits, mode: 0o600, text: text})
	}
	return text, fits(text)
}

// ownSeed returns the server's ed25519 key in the form of the contract: the public key
// and a signature of a random nonce as proof of possession.
func (s *server) ownSeed(m *material) (*contract.Ed25519, error) {
	text, err := s.findOrMakeKey(m, s.seedFile(), false, func(text string) error {
		seed, err := parseSeed(text)
		if err == nil {
			m.seed = ed25519.NewKeyFromSeed(seed)
		}
		return err
	}, func() (string, error) {
		seed := make([]byte, ed25519.SeedSize)
		_, err := rand.Read(seed)
		return hex.EncodeToString(seed), err
	})
	if err != nil {
		return nil, err
	}
	m.secrets = append(m.secrets, strings.TrimSpace(text))
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return &contract.Ed25519{
		PublicKey: hex.EncodeToString(m.seed.Public().(ed25519.PublicKey)),
		Directory: s.dir,
		Signature: hex.EncodeToString(ed25519.Sign(m.seed, []byte(hex.EncodeToString(nonce)))),
	}, nil
}

// ownRequest returns the server's certificate request. It keeps the present request
// while its name and its key fit.
func (s *server) ownRequest(m *material) (*contract.CSR, error) {
	for _, re := range s.deny {
		if re.MatchString(s.identity) {
			return nil, fmt.Errorf("no certificate is requested for %q: cert_deny_list has %s", s.identity, re)
		}
	}
	csr, _, err := s.readIfThere(s.inSSL(requestFile))
	if err != nil {
		return nil, err
	}
	name := requestedName(csr)
	others := name != "" && name != s.identity // then the key belongs to that name too
	text, err := s.findOrMakeKey(m, s.inSSL(keyFile), others, func(text string) (err error) {
		m.key, err = contract.ParseKey(text)
		return err
	}, newKeyPEM)
	if err != nil {
		return nil, err
	}
	if others || !requestOf(csr, m.key) {
		csr = ""
	}
	m.keyPEM = text
	m.secrets = append(m.secrets, text)
	if m.csrPEM = csr; csr == "" {
		if m.csrPEM, err = newRequest(s.identity, m.key); err != nil {
			return nil, err
		}
	}
	public, err := publicPEM(m.key.Public())
	if err != nil {
		return nil, err
	}
	return &contract.CSR{CSR: m.csrPEM, PublicKey: public, SSLDir: s.ssldir}, nil
}
