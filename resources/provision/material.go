package provision

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// material is the server's side of an exchange: its keys, its claims and
// its inventory.
type material struct {
	key     crypto.Signer // with the feature pki
	keyPEM  string
	csrPEM  string
	seed    ed25519.PrivateKey // with the feature ed25519
	claims  json.RawMessage
	version string
	input   []byte
	pending []target // keys that were made just now: kept before a helper hears of them
	secrets []string
}

// prepare gathers everything that a helper is told. It writes nothing.
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

// verifyToken reads and verifies the token with which the server asks.
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
	_ = json.Unmarshal(claims, &secret) // what cannot be read cannot be shown either
	m.secrets = append(m.secrets, secret.Cht, secret.Chpwd)
	return nil
}

// maxFile is how much is read of a file that holds a key, a token or the like.
const maxFile = 16 << 20

// read returns the content of a file that the manifest names.
func (s *server) read(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("%w: %w", err, model.ErrNotPermitted)
	}
	if err != nil {
		return "", err
	}
	return readAll(f, path)
}

// readIfThere returns the content of one of the server's files, or "" and false
// if it is missing. It does not follow a link at the end of the path.
func (s *server) readIfThere(path string) (string, bool, error) {
	state, err := s.w.Disk.Look(path)
	if err != nil || state.Kind == disk.Missing {
		return "", false, err
	}
	f, err := s.w.Disk.Open(path)
	if err != nil {
		return "", false, err
	}
	text, err := readAll(f, path)
	return text, err == nil, err
}

func readAll(f io.ReadCloser, path string) (string, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case len(data) > maxFile:
		return "", fmt.Errorf("read %s: it is larger than %d MiB", path, maxFile>>20)
	}
	return string(data), nil
}

// pendingPath is where a key waits until a reply has confirmed it: the helper
// has heard of it, and must hear of the same one again.
func (s *server) pendingPath(path string) string {
	if s.w.StateDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.identity + "\x00" + path))
	return filepath.Join(s.w.StateDir, ".provision", hex.EncodeToString(sum[:16]))
}

// own returns the key that belongs at a path: the one that is there (unless it
// is to be made anew), the one that waits, or a new one.
func (s *server) own(m *material, path string, anew bool, fits func(text string) error, create func() (string, error)) (string, error) {
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

func (s *server) ownSeed(m *material) (*contract.Ed25519, error) {
	text, err := s.own(m, s.seedFile(), false, func(text string) error {
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

// ownRequest makes the server's certificate request, or takes the one it has.
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
	others := name != "" && name != s.identity // and so is the key
	text, err := s.own(m, s.inSSL(keyFile), others, func(text string) (err error) {
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

// requestedName returns the name in a certificate request, or "" for other text.
func requestedName(text string) string {
	if csr := contract.ParseRequest(text); csr != nil {
		return csr.Subject.CommonName
	}
	return ""
}

// requestOf says whether a certificate request is one of the key's.
func requestOf(text string, key crypto.Signer) bool {
	csr := contract.ParseRequest(text)
	return csr != nil && contract.EqualKeys(csr.PublicKey, key.Public())
}

func newKeyPEM() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}

func newRequest(identity string, key crypto.Signer) (string, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: identity}}, key)
	if err != nil {
		return "", fmt.Errorf("make the certificate request: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}

// publicPEM writes a public key as Choria does: RSA in PKCS #1, whatever the label says.
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

// takeInventory gathers the facts, classes and files of the server.
func (s *server) takeInventory(ctx context.Context) (contract.Inventory, error) {
	inv := contract.Inventory{}
	var data []byte
	var err error
	switch {
	case s.inventory != nil:
		inv = *s.inventory
	case s.inventoryFile != "":
		var text string
		if text, err = s.read(s.inventoryFile); err != nil {
			err = fmt.Errorf("inventory_file: %w", err)
		}
		data = []byte(text)
	case len(s.inventoryCommand) > 0:
		data, err = s.outputOf(ctx, "inventory_command", s.inventoryCommand)
	default:
		inv, err = s.w.facts(ctx)
	}
	if err != nil {
		return inv, err
	}
	if data != nil {
		parsed, err := contract.ParseInventory(data)
		if err != nil {
			return inv, fmt.Errorf("%s: %w", s.inventorySource(), err)
		}
		inv = *parsed
	}
	inv.Upgradable = inv.Upgradable || s.features.Upgrades
	if version, err := s.runningVersion(ctx); err != nil || version != "" {
		inv.Version = version
		return inv, err
	}
	return inv, nil
}

func (s *server) inventorySource() string {
	if s.inventoryFile != "" {
		return "inventory_file " + s.inventoryFile
	}
	return "inventory_command " + s.shown(s.inventoryCommand)
}

// runningVersion is that of the server, "" when the manifest does not say.
func (s *server) runningVersion(ctx context.Context) (string, error) {
	if len(s.versionCommand) == 0 {
		return s.version, nil
	}
	out, err := s.outputOf(ctx, "version_command", s.versionCommand)
	return strings.TrimSpace(string(out)), err
}
