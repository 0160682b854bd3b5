package contract

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const identity = "node1.example.net"

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// fixture reads one of the replies that the contract is settled by.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	found, err := filepath.Glob("../../../testdata/helper/output/" + name + ".*")
	if err != nil || len(found) != 1 {
		t.Fatalf("fixture %s: found %v, %v", name, found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// judgment is a reply's verdict in short: the action, or why it cannot be read
// or is refused, and the warnings.
type judgment struct {
	Action   string
	Reason   string
	Errors   []string
	Warnings []string
}

func judged(data []byte, s Situation) judgment {
	r, err := ParseReply(data, nil)
	if err != nil {
		return judgment{Action: "unreadable", Reason: err.Error()}
	}
	v := Judge(r, s)
	j := judgment{Action: v.Action.String(), Reason: v.Reason}
	for _, f := range v.Errors {
		j.Errors = append(j.Errors, f.String())
	}
	for _, f := range v.Warnings {
		j.Warnings = append(j.Warnings, f.String())
	}
	return j
}

// TestFixtures holds Judge to the verdicts of the contract (docs/helpers.md).
func TestFixtures(t *testing.T) {
	plain := Situation{Identity: identity, Now: now, Version: "0.30.0"}
	with := func(f Features) Situation { s := plain; s.Features = f; return s }
	ours := newKey(t)
	pki := with(Features{PKI: true})
	pki.Key, pki.SSLDir = ours.Public(), "/etc/choria/ssl"
	ed25519 := with(Features{Ed25519: true, JWT: true})
	apply := func(warnings ...string) judgment { return judgment{Action: "apply", Warnings: warnings} }
	refuse := func(errors ...string) judgment { return judgment{Action: "refuse", Errors: errors} }
	unreadable := func(why string) judgment { return judgment{Action: "unreadable", Reason: why} }
	const (
		claimsOff = "$.server_claims: is ignored: the feature ed25519 is off; add it to features"
		typo      = `$.server_claims.permissions.stream: is not a permission of a server; did you mean "streams"?`
	)
	tests := []struct {
		fixture string
		s       Situation
		want    judgment
	}{
		{"01-minimal", plain, apply()},
		{"02-pki", pki, refuse("$.certificate: the certificate is not for our key; sign the csr that came with this request")},
		{"03-ed25519-claims", ed25519, apply()},
		{"03-ed25519-claims", plain, apply(claimsOff)},
		{"04-ed25519-upstream-exp", ed25519, apply("$.server_claims.exp: 157680000 is in the past (1974-12-31): the default validity is used; exp is a Unix time, not a number of seconds from now")},
		{"05-defer", plain, judgment{Action: "defer", Reason: "CMDB has no record of node1.example.net yet"}},
		{"06-shutdown", plain, judgment{Action: "shutdown", Reason: "node1.example.net was decommissioned"}},
		{"08-policies", plain, apply()},
		{"09-upgrade", plain, apply("$.upgrade: is ignored: the feature upgrades is off; add it to features")},
		{"09-upgrade", with(Features{Upgrades: true}), judgment{Action: "upgrade"}},
		{"20-defer-and-shutdown", plain, judgment{Action: "defer", Reason: "which one?", Warnings: []string{"$.shutdown: is ignored beside defer"}}},
		{"21-defer-with-configuration", plain, judgment{Action: "defer", Reason: "cfssl integration failed", Warnings: []string{"$.configuration: is ignored beside defer"}}},
		{"23-certificate-without-ca", plain, judgment{"refuse", "",
			[]string{"$.certificate: a certificate without a ca; answer with certificate, ca and ssldir"},
			[]string{"$.certificate: there is no private key for the certificate; answer with the key, or turn on the feature pki"}}},
		{"25-empty-object", plain, refuse("no configuration: the reply is an empty object")},
		{"26-typo-configuraton", plain, judgment{"refuse", "",
			[]string{`no configuration: received "configuraton" (did you mean "configuration"?)`},
			[]string{`$.configuraton: is not part of the contract; did you mean "configuration"?`}}},
		{"27-number-value", plain, unreadable("$.configuration.registerinterval: expected a string, got a number")},
		{"28-bool-value", plain, unreadable(`$.configuration["plugin.choria.server.provision"]: expected a string, got a boolean`)},
		{"29-newline-in-value", plain, refuse("$.configuration.loglevel: the value has a line break or another control character in it, which would make another line of it")},
		{"30-provision-not-disabled", plain, apply("$.configuration: plugin.choria.server.provision is missing: the server would provision for ever; set it to false")},
		{"31-policy-named-by-agent", plain, refuse(`$.action_policies.rpcutil: the name does not end in .policy; did you mean "rpcutil.policy"?`)},
		{"32-policy-path-traversal", plain, refuse(`$.opa_policies["../../../evil.rego"]: the name is not that of a file in the policy directory`)},
		{"33-exp-string", ed25519, unreadable("$.server_claims.exp: expected a number, got a string")},
		{"33-exp-string", plain, unreadable("$.server_claims.exp: expected a number, got a string")},
		{"34-permission-typo", ed25519, refuse(typo)},
		{"34-permission-typo", plain, judgment{"refuse", "", []string{typo}, []string{claimsOff}}},
		{"40-zero-bytes", plain, unreadable("zero bytes received")},
		{"41-null", plain, refuse("no configuration: the reply is null")},
		{"42-array", plain, unreadable(`the reply is not an object but an array: "[]\n"`)},
		{"43-log-line-before", plain, unreadable(`the reply is not exactly one JSON object: it begins with "Loading CA...\n{\n  \"configuration\": {\n   "…; standard output is for the reply alone, a log belongs on standard error`)},
		{"44-two-documents", plain, unreadable(`the reply is more than one JSON object: another value begins at byte 208: "{\n  \"defer\": true\n}\n"`)},
		{"45-truncated", plain, unreadable("the reply ends in the middle of the JSON object, after 60 bytes, in $.configuration")},
		{"46-duplicate-defer", plain, unreadable("$.defer: is given twice")},
	}
	for _, tt := range tests {
		t.Run(tt.fixture, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, judged(fixture(t, tt.fixture), tt.s)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
	all, err := os.ReadDir("../../../testdata/helper/output")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		name := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))
		known := false
		for _, tt := range tests {
			known = known || tt.fixture == name
		}
		if !known {
			t.Errorf("fixture %s has no verdict here", name)
		}
	}
}

// reply makes one: what is changed of an answer that is fine.
func reply(t *testing.T, change map[string]any) []byte {
	t.Helper()
	r := map[string]any{"configuration": map[string]any{"identity": identity, provisionKey: "false"}}
	for key, value := range change {
		if r[key] = value; value == nil {
			delete(r, key)
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJudge(t *testing.T) {
	type m = map[string]any
	config := func(key, value string) m {
		return m{"configuration": m{provisionKey: "false", key: value}}
	}
	upgrades := func(s *Situation) { s.Features.Upgrades = true }
	ed25519 := func(s *Situation) { s.Features.Ed25519 = true }
	tests := []struct {
		name      string
		change    m
		situation func(*Situation)
		action    string
		errors    string // all of them, joined
		warnings  string
	}{
		{name: "fine", action: "apply"},
		{name: "keys match whatever their case", change: m{"configuration": nil, "Configuration": m{provisionKey: "False"}}, action: "apply"},
		{name: "nulls are zero values", change: m{"defer": nil, "msg": nil, "server_claims": nil, "opa_policies": nil}, action: "apply"},
		{name: "defer without a reason", change: m{"defer": true, "configuration": nil}, action: "defer: deferred by the helper, which gave no reason (msg)"},
		{name: "defer wins over a reply that would be refused", change: m{"defer": true, "msg": "not\nyet\t!", "configuration": nil, "upgrade": "1\n2", "ca": "x"}, action: "defer: not yet !"},
		{name: "shutdown with configuration", change: m{"shutdown": true, "msg": "old"}, action: "shutdown: old", warnings: "$.configuration: is ignored beside shutdown"},
		{name: "an unknown key", change: m{"polices": m{}}, action: "apply", warnings: "$.polices: is not part of the contract"},
		{name: "an unknown key near to one", change: m{"defered": false}, action: "apply", warnings: `$.defered: is not part of the contract; did you mean "defer"?`},
		{name: "empty configuration", change: m{"configuration": m{}}, action: "refuse", errors: `no configuration: received "configuration" (empty)`},
		{name: "a null value", change: m{"configuration": m{provisionKey: "false", "loglevel": nil}}, action: "apply", warnings: "$.configuration.loglevel: is null: taken as an empty text"},

		{name: "a carriage return in a value", change: config("a", "x\ry"), action: "refuse", errors: "$.configuration.a: the value has a line break or another control character in it, which would make another line of it"},
		{name: "a tab in a value", change: config("a", "x\ty"), action: "apply"},
		{name: "a line break in a key", change: config("a\nb", "x"), action: "refuse", errors: `$.configuration["a\nb"]: the key has a control character in it, which would make another line of it`},
		{name: "an equals sign in a key", change: config("a=b", "x"), action: "refuse", errors: `$.configuration["a=b"]: the key would be read as another one, or as a comment; no = in a key, no # in front of it`},
		{name: "a comment", change: config("#a", "x"), action: "refuse", errors: `$.configuration["#a"]: the key would be read as another one, or as a comment; no = in a key, no # in front of it`},
		{name: "an empty key", change: config("", "x"), action: "refuse", errors: `$.configuration[""]: the key is empty`},
		{name: "a key with white space around it", change: config(" a", "x"), action: "refuse", errors: `$.configuration[" a"]: the key has white space around it, which would be lost`},
		{name: "a known boolean that is none", change: config("rpcaudit", "on"), action: "apply", warnings: `$.configuration.rpcaudit: "on" is not a boolean; write true or false`},
		{name: "a known boolean in another word", change: config("rpcaudit", "Y"), action: "apply"},
		{name: "provisioning stays on", change: config(provisionKey, "true"), action: "apply", warnings: `$.configuration["plugin.choria.server.provision"]: is "true": the server would provision for ever; set it to false`},

		{name: "a policy in a directory", change: m{"action_policies": m{"a/b.policy": ""}}, action: "refuse", errors: `$.action_policies["a/b.policy"]: the name is not that of a file in the policy directory`},
		{name: "a policy elsewhere", change: m{"action_policies": m{"/etc/b.policy": ""}}, action: "refuse", errors: `$.action_policies["/etc/b.policy"]: the name is not that of a file in the policy directory`},
		{name: "a policy behind a backslash", change: m{"action_policies": m{`a\b.policy`: ""}}, action: "refuse", errors: `$.action_policies["a\\b.policy"]: the name is not that of a file in the policy directory`},
		{name: "only the end of a name", change: m{"opa_policies": m{".rego": ""}}, action: "refuse", errors: `$.opa_policies[".rego"]: the name is no file name`},
		{name: "the end of the other kind", change: m{"opa_policies": m{"a.policy": ""}}, action: "refuse", errors: `$.opa_policies["a.policy"]: the name does not end in .rego; did you mean "a.policy.rego"?`},
		{name: "a line break in a policy's name", change: m{"opa_policies": m{"a\n.rego": ""}}, action: "refuse", errors: `$.opa_policies["a\n.rego"]: the name has a control character in it`},
		{name: "line breaks in a policy's text", change: m{"opa_policies": m{"a.rego": "x\ny\n"}}, action: "apply"},

		{name: "a claim that does not exist", change: m{"server_claims": m{"collectivs": []string{"a"}}}, situation: ed25519, action: "refuse", errors: `$.server_claims.collectivs: is not a claim of a server token; did you mean "collectives"?`},
		{name: "what upstream's manual calls pub_subjects", change: m{"server_claims": m{"additional_publish_subjects": []string{"a"}}}, situation: ed25519, action: "refuse", errors: `$.server_claims.additional_publish_subjects: is not a claim of a server token; did you mean "pub_subjects"?`},
		{name: "a claim that does not count", change: m{"server_claims": m{"iss": "me", "aud": []string{"x"}}}, situation: ed25519, action: "apply", warnings: "$.server_claims.aud: does not count: settle sets that claim itself | $.server_claims.iss: does not count: settle sets that claim itself"},
		{name: "an empty collective", change: m{"server_claims": m{"collectives": []string{"a", " "}}}, situation: ed25519, action: "refuse", errors: "$.server_claims.collectives[1]: the collective has no name"},
		{name: "an expiry too near", change: m{"server_claims": m{"exp": now.Add(time.Hour).Unix() - 1}}, situation: ed25519, action: "apply", warnings: "$.server_claims.exp: is less than an hour away: the default validity is used; exp is a Unix time"},
		{name: "an expiry in an hour", change: m{"server_claims": m{"exp": now.Add(time.Hour).Unix()}}, situation: ed25519, action: "apply"},
		{name: "an expiry in milliseconds", change: m{"server_claims": m{"exp": now.AddDate(1, 0, 0).Unix() * 1000}}, situation: ed25519, action: "apply", warnings: "$.server_claims.exp: 1827662400000 is after the year 9999; exp is a Unix time"},
		{name: "an expiry of zero is none", change: m{"server_claims": m{"exp": 0}}, situation: ed25519, action: "apply"},

		{name: "an upgrade without configuration", change: m{"configuration": nil, "upgrade": "0.31.0"}, situation: upgrades, action: "upgrade"},
		{name: "an upgrade beside a reply that is refused", change: m{"upgrade": "0.31.0", "ca": "x"}, situation: upgrades, action: "refuse", errors: "$.ca: is not PEM: it has no -----BEGIN line | $.ca: a ca without a certificate; answer with both or none"},
		{name: "an upgrade to what is there", change: m{"upgrade": "0.30.0"}, situation: upgrades, action: "apply"},
		{name: "an upgrade to what is there without configuration", change: m{"configuration": nil, "upgrade": "0.30.0"}, situation: upgrades, action: "refuse", errors: `no configuration: received "upgrade"`},
		{name: "an upgrade of an unknown version", change: m{"upgrade": "0.30.0"}, situation: func(s *Situation) { upgrades(s); s.Version = "" }, action: "upgrade"},
		{name: "an upgrade that was given up", change: m{"upgrade": "0.31.0"}, situation: func(s *Situation) { upgrades(s); s.NoUpgrade = true }, action: "apply"},
		{name: "an upgrade that was given up, without configuration", change: m{"configuration": nil, "upgrade": "0.31.0"}, situation: func(s *Situation) { upgrades(s); s.NoUpgrade = true }, action: "refuse", errors: `no configuration: received "upgrade"`},
		{name: "a version that is none", change: m{"upgrade": "1\n2"}, situation: upgrades, action: "refuse", errors: `$.upgrade: "1\n2" is not a version`},

		{name: "a relative ssldir", change: m{"ssldir": "ssl"}, action: "refuse", errors: `$.ssldir: "ssl" is not an absolute directory | $.ssldir: an ssldir without a certificate; answer with certificate, ca and ssldir, or none of them`},
		{name: "the issuer's key among what is provisioned", situation: func(s *Situation) { s.Directory, s.SigningKey = "/etc/choria", "/etc/choria/issuer.seed" }, action: "apply", warnings: "jwt_signing_key /etc/choria/issuer.seed lies in the directory that is provisioned; keep the issuer's key off its servers"},
		{name: "the issuer's key elsewhere", situation: func(s *Situation) { s.Directory, s.SigningKey = "/etc/choria", "/etc/choria-issuer/issuer.seed" }, action: "apply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Situation{Identity: identity, Now: now, Version: "0.30.0"}
			if tt.situation != nil {
				tt.situation(&s)
			}
			expect(t, judged(reply(t, tt.change), s), tt.action, tt.errors, tt.warnings)
		})
	}
}

func expect(t *testing.T, got judgment, action, errors, warnings string) {
	t.Helper()
	if got.Reason != "" {
		got.Action += ": " + got.Reason
	}
	for _, c := range []struct{ what, got, want string }{
		{"action", got.Action, action},
		{"errors", strings.Join(got.Errors, " | "), errors},
		{"warnings", strings.Join(got.Warnings, " | "), warnings},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, c.got, c.want)
		}
	}
}

func TestParseReply(t *testing.T) {
	tests := []struct{ name, in, err string }{
		{"all that is wrong at once", `{"defer": "yes", "msg": 1, "configuration": {"a": [], "b": {}}, "server_claims": {"ou": 5, "collectives": ["a", 1], "permissions": {"streams": "x"}, "nbf": "x"}}`,
			"$.defer: expected a boolean, got a string, $.msg: expected a string, got a number, $.configuration.a: expected a string, got an array, $.configuration.b: expected a string, got an object, " +
				"$.server_claims.ou: expected a string, got a number, $.server_claims.collectives[1]: expected a string, got a number, $.server_claims.permissions.streams: expected a boolean, got a string, $.server_claims.nbf: expected a number, got a string"},
		{"a configuration that is no object", `{"configuration": []}`, "$.configuration: expected an object, got an array"},
		{"twice, in another case", `{"defer": true, "Defer": false}`, `$.Defer: is given twice: before as "defer", and case does not matter`},
		{"twice, deep inside", `{"configuration": {"a": "1", "a": "2"}}`, "$.configuration.a: is given twice"},
		{"twice, and unknown", `{"x": 1, "x": 1, "configuration": {"a": "1"}}`, "$.x: is given twice"},
		{"configuration keys have a case", `{"configuration": {"a": "1", "A": "2"}}`, ""},
		{"an exp out of all range", `{"server_claims": {"exp": 1e999}}`, "$.server_claims.exp: is not a time: 1e999 is out of range"},
		{"too much", `{"msg": "` + strings.Repeat("x", MaxReply) + `"}`, "more than 16 MiB received"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseReply([]byte(tt.in), nil)
			if got := errorText(err); got != tt.err {
				t.Errorf("error:\n got %s\nwant %s", got, tt.err)
			}
		})
	}
}

// authority signs certificates for tests.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  string
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keyPEM(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(10, 0, 0), SubjectKeyId: []byte(name),
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return a
}

// sign makes a certificate for a key that is valid between two times.
func (a *authority) sign(t *testing.T, key any, name string, from, until time.Time, sans ...string) string {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until, DNSNames: sans}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestJudgeCredentials(t *testing.T) {
	type m = map[string]any
	ca, key, other := newAuthority(t, "CA"), newKey(t), newKey(t)
	year := now.AddDate(1, 0, 0)
	cert := ca.sign(t, key.Public(), identity, now, year)
	with := func(change m) m {
		all := m{"certificate": cert, "ca": ca.pem, "ssldir": "/ssl"}
		for k, v := range change {
			all[k] = v
		}
		return all
	}
	none := func(s *Situation) { s.Key = nil }
	pki := func(s *Situation) { s.Features.PKI, s.SSLDir = true, "/ssl" }
	broken := strings.Replace(cert, "\n", "\n!", 1)
	tests := []struct {
		name      string
		change    m
		situation func(*Situation)
		action    string
		errors    string
		warnings  string
	}{
		{name: "for our csr", change: with(nil), situation: pki, action: "apply"},
		{name: "the csr's directory wins", change: with(m{"ssldir": "/elsewhere"}), situation: pki, action: "apply", warnings: "$.ssldir: is ignored: the credentials go to /ssl; answer with the ssldir of the csr"},
		{name: "the csr's directory is enough", change: with(m{"ssldir": ""}), situation: pki, action: "apply"},
		{name: "for another key than the csr's", change: with(m{"certificate": ca.sign(t, other.Public(), identity, now, year)}), situation: pki, action: "refuse", errors: "$.certificate: the certificate is not for our key; sign the csr that came with this request"},
		{name: "for another key than the one that is there", change: with(m{"certificate": ca.sign(t, other.Public(), identity, now, year)}), action: "refuse", errors: "$.certificate: the certificate is not for the private key that the server has"},
		{name: "with its key", change: with(m{"key": keyPEM(t, key)}), situation: none, action: "apply"},
		{name: "with a key of its own instead of the csr's", change: with(m{"key": keyPEM(t, other), "certificate": ca.sign(t, other.Public(), identity, now, year)}), situation: pki, action: "apply"},
		{name: "with a key that does not match", change: with(m{"key": keyPEM(t, other)}), action: "refuse", errors: "$.certificate: the certificate is not for the key beside it"},
		{name: "without any key", change: with(nil), situation: none, action: "apply", warnings: "$.certificate: there is no private key for the certificate; answer with the key, or turn on the feature pki"},
		{name: "a key alone", change: m{"key": keyPEM(t, key), "ssldir": "/ssl"}, action: "apply", warnings: "$.key: a key without a certificate; answer with key, certificate, ca and ssldir"},
		{name: "without a ca", change: with(m{"ca": ""}), action: "refuse", errors: "$.certificate: a certificate without a ca; answer with certificate, ca and ssldir"},
		{name: "without an ssldir", change: with(m{"ssldir": ""}), action: "refuse", errors: "$.certificate: a certificate without an ssldir; answer with certificate, ca and ssldir"},
		{name: "a ca alone", change: m{"ca": ca.pem}, action: "refuse", errors: "$.ca: a ca without a certificate; answer with both or none"},
		{name: "for another name", change: with(m{"certificate": ca.sign(t, key.Public(), "node2.example.net", now, year)}), action: "refuse", errors: `$.certificate: the certificate is for "node2.example.net", not for "node1.example.net"`},
		{name: "expired", change: with(m{"certificate": ca.sign(t, key.Public(), identity, now.AddDate(-1, 0, 0), now.Add(-time.Second))}), action: "refuse", errors: "$.certificate: the certificate expired on 2026-12-01"},
		{name: "not valid yet", change: with(m{"certificate": ca.sign(t, key.Public(), identity, now.Add(time.Hour), year)}), action: "apply", warnings: "$.certificate: the certificate is not valid before 2026-12-01 13:00 UTC"},
		{name: "a chain", change: with(m{"certificate": cert + ca.pem}), action: "apply"},
		{name: "no PEM", change: with(m{"certificate": "x", "ca": "y", "key": "z"}), action: "refuse", errors: "$.key: is not PEM: it has no -----BEGIN line | $.certificate: is not PEM: it has no -----BEGIN line | $.ca: is not PEM: it has no -----BEGIN line"},
		{name: "broken PEM before a good block", change: with(m{"ca": broken + ca.pem}), action: "refuse", errors: "$.ca: is not PEM: 1 of its 2 blocks can be read"},
		{name: "a truncated chain", change: with(m{"certificate": cert + ca.pem[:200]}), action: "refuse", errors: "$.certificate: is not PEM: 1 of its 2 blocks can be read"},
		{name: "a key where a certificate belongs", change: with(m{"certificate": keyPEM(t, key)}), action: "refuse", errors: "$.certificate: holds a private key where a certificate belongs"},
		{name: "a certificate where a key belongs", change: with(m{"key": cert}), action: "refuse", errors: "$.key: holds a certificate where a private key belongs"},
		{name: "an encrypted key", change: with(m{"key": "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n"}), action: "refuse", errors: "$.key: the private key is encrypted"},
		{name: "PEM without a certificate in it", change: with(m{"ca": "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"}), action: "refuse", errors: "$.ca: holds no certificate: x509: malformed tbs certificate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Situation{Identity: identity, Now: now, Key: key.Public()}
			if tt.situation != nil {
				tt.situation(&s)
			}
			expect(t, judged(reply(t, tt.change), s), tt.action, tt.errors, tt.warnings)
		})
	}
}

// An excerpt of a reply, and its message, are cut: a secret at the cut is redacted
// all the same, also when the helper has escaped it in part.
func TestExcerptsAreRedactedBeforeTheyAreCut(t *testing.T) {
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2-hunter2", "***") }
	for _, reply := range []string{
		strings.Repeat("x", 35) + "hunter2-hunter2",
		`{"msg": "m" ` + strings.Repeat("x", 35) + "hunter2-hunter2",
		strings.Repeat("x", 20) + `\u0068unter2-\u0068\u0075nter2`,
	} {
		_, err := ParseReply([]byte(reply), redact)
		if err == nil || strings.Contains(err.Error(), "hunt") || strings.Contains(err.Error(), "u006") || !strings.Contains(err.Error(), "***") {
			t.Errorf("%s: %v", reply, err)
		}
	}
	r, err := ParseReply([]byte(`{"defer": true, "msg": "`+strings.Repeat("x ", 245)+`hunter2-hunter2"}`), redact)
	if err != nil {
		t.Fatal(err)
	}
	if v := Judge(r, Situation{}); strings.Contains(v.Reason, "hunt") {
		t.Errorf("reason: %s", v.Reason)
	}
}
