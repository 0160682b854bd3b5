package provision

import (
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/resources/provision/contract"
)

// The server's files in ssldir.
const (
	keyFile         = "private.pem"
	requestFile     = "csr.pem"
	certificateFile = "certificate.pem"
	caFile          = "ca.pem"
)

// header is the first line of a configuration. It never changes, so that equal
// answers make equal files.
const header = "# written by settle from what the helper answers; changes made here are lost\n"

// target is a file, or a directory, as it has to be.
type target struct {
	path   string
	mode   uint32
	text   string
	dir    bool
	gone   bool // nothing is to be there
	secret bool // its content is never shown
	// good reports whether the present content is acceptable although it differs.
	good func(have string) (bool, error)
}

func (s *server) seedFile() string       { return filepath.Join(s.dir, "server.seed") }
func (s *server) tokenFile() string      { return filepath.Join(s.dir, "server.jwt") }
func (s *server) inSSL(n string) string  { return filepath.Join(s.ssldir, n) }
func (s *server) actionPolicies() string { return filepath.Join(s.dir, "policies") }
func (s *server) opaPolicies() string    { return filepath.Join(s.dir, "policies", "rego") }

// sslDir is where credentials go: a certificate request has said so, the reply
// may say so, or the manifest does.
func (s *server) sslDir(r *contract.Reply) string {
	if s.features.PKI || r.SSLDir == "" {
		return s.ssldir
	}
	return filepath.Clean(r.SSLDir)
}

// targets lists the files that a reply requests, in the order in which they are
// written: the configuration last, because it refers to the others.
func (s *server) targets(r *contract.Reply, m *material) ([]target, error) {
	list := []target{{path: s.dir, mode: 0o755, dir: true}}
	if s.features.Ed25519 {
		tokens, err := s.tokenTargets(r, m)
		if err != nil {
			return nil, err
		}
		list = append(list, tokens...)
	}
	list = append(list, s.credentialTargets(r, m)...)
	policies, err := s.policyTargets(s.actionPolicies(), ".policy", r.ActionPolicies)
	if err != nil {
		return nil, err
	}
	list = append(list, policies...)
	if policies, err = s.policyTargets(s.opaPolicies(), ".rego", r.OPAPolicies); err != nil {
		return nil, err
	}
	list = append(list, policies...)
	if dir := filepath.Dir(s.config); dir != s.dir {
		list = append(list, target{path: dir, mode: 0o755, dir: true})
	}
	return append(list, target{path: s.config, mode: 0o600, text: configuration(r.Configuration)}), nil
}

// configuration is the text of the server's configuration file.
func configuration(values map[string]string) string {
	var b strings.Builder
	b.WriteString(header)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s = %s\n", key, values[key])
	}
	return b.String()
}

func (s *server) tokenTargets(r *contract.Reply, m *material) ([]target, error) {
	want := s.token(r, m)
	by, err := s.signer()
	if err != nil {
		return nil, err
	}
	seed := target{path: s.seedFile(), mode: 0o600, text: fmt.Sprintf("%x", m.seed.Seed()), secret: true}
	seed.good = func(have string) (bool, error) { return strings.TrimSpace(have) == seed.text, nil }
	jwt := target{path: s.tokenFile(), mode: 0o600, secret: true}
	jwt.good = func(have string) (bool, error) { return s.w.Tokens.IsCurrent(have, want, by) }
	have, _, err := s.readIfThere(jwt.path)
	if err == nil {
		if good, _ := jwt.good(have); good { // else signing finds out why
			jwt.text = have
			return []target{seed, jwt}, nil
		}
	}
	if jwt.text, err = s.w.Tokens.Sign(want, by); err != nil {
		return nil, fmt.Errorf("sign the server's token: %w", err)
	}
	return []target{seed, jwt}, nil
}

// token is what the server's token has to say.
func (s *server) token(r *contract.Reply, m *material) contract.Token {
	t := contract.Token{Identity: s.identity, Org: "choria", Collectives: []string{"mcollective"}, PublicKey: m.seed.Public().(ed25519.PublicKey)}
	if r.Configuration["plugin.security.provider"] == "choria" {
		t.Collectives = []string{"choria"}
	}
	if list := splitList(r.Configuration["collectives"]); len(list) > 0 {
		t.Collectives = list
	}
	now := s.w.Now()
	t.Expires = now.Add(s.validity)
	c := r.Claims
	if c == nil {
		return t
	}
	if c.OU != "" {
		t.Org = c.OU
	}
	if len(c.Collectives) > 0 {
		t.Collectives = c.Collectives
	}
	t.PubSubjects = c.PubSubjects
	if at, _ := c.Expiry(now); !at.IsZero() {
		t.Expires = at
	}
	if p := c.Permissions; p != nil {
		t.Permitted, t.Submission, t.Streams, t.Governor, t.ServiceHost = true, p.Submission, p.Streams, p.Governor, p.ServiceHost
	}
	return t
}

func splitList(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// signer reads who signs, every time: so keys can be changed under a run.
func (s *server) signer() (contract.Signer, error) {
	text, err := s.read(s.signingKey)
	if err != nil {
		return contract.Signer{}, fmt.Errorf("read jwt_signing_key: %w", err)
	}
	seed, err := parseSeed(text)
	if err != nil {
		return contract.Signer{}, fmt.Errorf("read jwt_signing_key %s: %w", s.signingKey, err)
	}
	by := contract.Signer{Seed: seed}
	if s.signingToken != "" {
		if by.Token, err = s.read(s.signingToken); err != nil {
			return contract.Signer{}, fmt.Errorf("read jwt_signing_token: %w", err)
		}
	}
	return by, nil
}

func (s *server) credentialTargets(r *contract.Reply, m *material) []target {
	if !s.features.PKI && r.Key == "" && r.Certificate == "" {
		return nil
	}
	dir := s.sslDir(r)
	in := func(name string) string { return filepath.Join(dir, name) }
	list := []target{{path: dir, mode: 0o700, dir: true}}
	switch {
	case r.Key != "":
		list = append(list,
			target{path: in(keyFile), mode: 0o600, text: r.Key, secret: true},
			target{path: in(requestFile), gone: true})
	case s.features.PKI:
		list = append(list,
			target{path: in(keyFile), mode: 0o600, text: m.keyPEM, secret: true},
			target{path: in(requestFile), mode: 0o644, text: m.csrPEM})
	}
	if r.Certificate != "" {
		list = append(list,
			target{path: in(caFile), mode: 0o644, text: r.CA},
			target{path: in(certificateFile), mode: 0o644, text: r.Certificate, good: func(have string) (bool, error) {
				return certificateWillDo(have, r.Certificate, s.w.Now()), nil
			}})
	}
	return list
}

// certificateWillDo says whether a certificate that is there will do although
// the helper has signed another one: it is for the same, by the same, and a
// third of its validity is left. Helpers that sign at every call would otherwise
// restart the server at every run.
func certificateWillDo(have, want string, now time.Time) bool {
	if have == want {
		return true
	}
	olds, err := contract.ParseCertificates(have)
	if err != nil {
		return false
	}
	news, err := contract.ParseCertificates(want)
	if err != nil || len(olds) != len(news) {
		return false
	}
	for i := range olds[1:] { // the rest of the chain
		if !olds[i+1].Equal(news[i+1]) {
			return false
		}
	}
	old, fresh := olds[0], news[0]
	left, whole := old.NotAfter.Sub(now), old.NotAfter.Sub(old.NotBefore)
	return left >= whole/3 && contract.EqualKeys(old.PublicKey, fresh.PublicKey) &&
		slices.Equal(old.RawSubject, fresh.RawSubject) && slices.Equal(old.RawIssuer, fresh.RawIssuer) &&
		slices.Equal(old.AuthorityKeyId, fresh.AuthorityKeyId) && slices.Equal(names(old), names(fresh))
}

// names are all for which a certificate is, beside its subject.
func names(c *x509.Certificate) []string {
	list := slices.Concat(c.DNSNames, c.EmailAddresses)
	for _, ip := range c.IPAddresses {
		list = append(list, ip.String())
	}
	for _, u := range c.URIs {
		list = append(list, u.String())
	}
	slices.Sort(list)
	return list
}

// policyTargets lists the policies of one kind, and those that are there and
// not in the reply. A reply without that map says nothing of them.
func (s *server) policyTargets(dir, suffix string, policies map[string]string) ([]target, error) {
	if policies == nil {
		return nil, nil
	}
	list := s.policyFiles(dir, policies)
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	for _, f := range there {
		if _, ok := policies[f.Name()]; !ok && !f.IsDir() && strings.HasSuffix(f.Name(), suffix) {
			list = append(list, target{path: filepath.Join(dir, f.Name()), gone: true})
		}
	}
	return list, nil
}

func (s *server) policyFiles(dir string, policies map[string]string) []target {
	if len(policies) == 0 {
		return nil
	}
	list := []target{{path: s.actionPolicies(), mode: 0o700, dir: true}}
	if dir != s.actionPolicies() {
		list = append(list, target{path: dir, mode: 0o700, dir: true})
	}
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		list = append(list, target{path: filepath.Join(dir, name), mode: 0o400, text: policies[name]})
	}
	return list
}
