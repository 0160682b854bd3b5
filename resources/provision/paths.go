package provision

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/settle-cm/settle/resources/provision/contract"
)

// The server's files in ssldir.
const (
	keyFile         = "private.pem"
	requestFile     = "csr.pem"
	certificateFile = "certificate.pem"
	caFile          = "ca.pem"
)

func (s *server) seedFile() string { return filepath.Join(s.dir, "server.seed") }

func (s *server) tokenFile() string { return filepath.Join(s.dir, "server.jwt") }

func (s *server) inSSL(n string) string { return filepath.Join(s.ssldir, n) }

func (s *server) actionPolicies() string { return filepath.Join(s.dir, "policies") }

func (s *server) opaPolicies() string { return filepath.Join(s.dir, "policies", "rego") }

// sslDir returns the directory of the credentials. A certificate request has named it
// to the helper already. Without a request the reply may name it.
func (s *server) sslDir(r *contract.Reply) string {
	if s.features.PKI || r.SSLDir == "" {
		return s.ssldir
	}
	return filepath.Clean(r.SSLDir)
}

// pendingPath returns the file of a new key until a reply has confirmed it, or ""
// without a state directory. The helper has seen the key, and must see the same key
// after a killed run.
func (s *server) pendingPath(path string) string {
	if s.w.StateDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.identity + "\x00" + path))
	return filepath.Join(s.w.StateDir, ".provision", hex.EncodeToString(sum[:16]))
}
