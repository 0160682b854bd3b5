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

// header is the first line of a configuration. It is constant, so that equal answers
// make equal files.
const header = "# written by settle from what the helper answers; changes made here are lost\n"

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

// configuration returns the text of the server's configuration file, sorted by key.
func configuration(values map[string]string) string {
	var b strings.Builder
	b.WriteString(header)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s = %s\n", key, values[key])
	}
	return b.String()
}

// tokenTargets returns the seed and the token of the server. A present token stays
// while its claims and its signer are current, so that unchanged answers change no file.
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
		if good, _ := jwt.good(have); good { // otherwise signing reports the error
			jwt.text = have
			return []target{seed, jwt}, nil
		}
	}
	if jwt.text, err = s.w.Tokens.Sign(want, by); err != nil {
		return nil, fmt.Errorf("sign the server's token: %w", err)
	}
	return []target{seed, jwt}, nil
}

// token returns the claims of the server's token: defaults, then the configuration,
// then the claims of the reply.
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

// splitList splits a text at commas and drops empty items.
func splitList(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// signer reads the issuer's key and token. It reads them each time, so that they can
// be replaced during a run.
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

// credentialTargets returns the key, the request and the certificates of the server. A
// key of the reply replaces the request.
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
				return isAcceptable(have, r.Certificate, s.w.Now()), nil
			}})
	}
	return list
}

// isAcceptable reports whether a present certificate can stay although the helper has
// signed another one: subject, names, key and issuer are the same, and a third of its
// validity is left. A helper that signs in every call would otherwise restart the
// server in every run.
func isAcceptable(have, want string, now time.Time) bool {
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

// names returns the alternative names of a certificate, sorted.
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

// policyTargets lists the policies of one kind. Present files that are not in the reply
// are removed. A reply without that map leaves all of them alone.
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

// policyFiles lists the directories and files of policies, without removals.
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
