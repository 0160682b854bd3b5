package provision_test

import (
	"crypto/x509"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	lib "github.com/choria-io/tokens"

	"github.com/settle-cm/settle/model"
)

func TestCertificates(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	s.signs(how)
	const pki = "features: [pki]"
	s.want(s.apply(pki), model.Changed, "ssl/private.pem written, ssl/csr.pem written, ssl/ca.pem written, ssl/certificate.pem written, server.conf written")
	want := "etc 0755\netc/server.conf 0600\netc/ssl 0700\netc/ssl/ca.pem 0644\netc/ssl/certificate.pem 0644\netc/ssl/csr.pem 0644\netc/ssl/private.pem 0600"
	if got := s.tree(); got != want {
		t.Errorf("the server has\n%s\nwant\n%s", got, want)
	}
	was := s.read("etc/ssl/certificate.pem")
	s.want(s.apply(pki), model.Stable, "as the helper says") // although it signs a new one at every call
	if s.read("etc/ssl/certificate.pem") != was {
		t.Error("the certificate was replaced")
	}

	how.SANs = []string{"alias.example.net"}
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/certificate.pem written")

	old := how
	old.Age = 201 * 24 * time.Hour // of 300
	s.signs(old)
	s.apply(pki) // kept: the one that is there is young
	if err := os.Remove(s.path("etc/ssl/certificate.pem")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(pki), model.Changed, "ssl/certificate.pem written")
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/certificate.pem written") // less than a third was left
	s.want(s.apply(pki), model.Stable, "as the helper says")

	how = newSigning(t)
	how.SANs = []string{"alias.example.net"}
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/ca.pem written, ssl/certificate.pem written") // of another authority with the same name

	how.Name = "node2.example.net"
	s.signs(how)
	s.want(s.apply(pki), model.Failed, "helper ./helper for "+identity+`: the reply is refused: $.certificate: the certificate is for "node2.example.net", not for "node1.example.net"`)
}

// request is the certificate request that the helper was asked to sign.
func (s *site) request() (string, *x509.CertificateRequest) {
	s.Helper()
	var in struct {
		CSR struct{ CSR string }
	}
	if err := json.Unmarshal([]byte(s.read("input.json")), &in); err != nil {
		s.Fatal(err)
	}
	csr, err := x509.ParseCertificateRequest(block(in.CSR.CSR))
	if err != nil {
		s.Fatal(err)
	}
	return in.CSR.CSR, csr
}

// A request that waits for someone's approval is the same at the next call.
func TestARequestSurvivesADeferral(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	how.Defer = true
	s.signs(how)
	const pki = "features: [pki]"
	s.want(s.apply(pki), model.Deferred, "waiting for approval")
	first, csr := s.request()
	if csr.Subject.String() != "CN="+identity || len(csr.DNSNames) != 0 {
		t.Errorf("the request is for %s, %v", csr.Subject, csr.DNSNames)
	}
	s.want(s.apply(pki), model.Deferred, "waiting for approval")
	if second, _ := s.request(); second != first {
		t.Error("the second request is another one")
	}
	if tree := s.tree(); tree != "" {
		t.Errorf("something was written:\n%s", tree)
	}
	how.Defer = false
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/private.pem written, …")
	if third, _ := s.request(); third != first || s.read("etc/ssl/csr.pem") != first {
		t.Error("the request that was approved is another one")
	}
	if waiting, _ := os.ReadDir(s.path("state/.provision")); len(waiting) > 0 {
		t.Errorf("%d keys still wait", len(waiting))
	}
}

func TestARequestOfAnotherServerIsMadeAnew(t *testing.T) {
	s := newSite(t)
	s.signs(newSigning(t))
	s.apply("features: [pki]")
	key := s.read("etc/ssl/private.pem")
	s.want(s.apply("features: [pki]\nidentity: node2.example.net"), model.Changed, "ssl/private.pem written, ssl/csr.pem written, ssl/certificate.pem written, server.conf written")
	if s.read("etc/ssl/private.pem") == key {
		t.Error("two servers share a key")
	}
	key = s.read("etc/ssl/private.pem")
	if err := os.Remove(s.path("etc/ssl/csr.pem")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply("features: [pki]\nidentity: node2.example.net"), model.Changed, "ssl/csr.pem written")
	if s.read("etc/ssl/private.pem") != key {
		t.Error("a request that was lost made a new key")
	}
}

func TestNoRequestForAPrivilegedName(t *testing.T) {
	s := newSite(t)
	s.script("touch asked; echo '{}'")
	s.want(s.apply("features: [pki]\nidentity: boss.privileged.mcollective"), model.Failed,
		`no certificate is requested for "boss.privileged.mcollective": cert_deny_list has \.privileged.mcollective$`)
	s.want(s.apply("features: [pki]\ncert_deny_list: ['/^node1/']"), model.Failed, `no certificate is requested for "node1.example.net": cert_deny_list has ^node1`)
	if _, err := os.Stat(s.path("asked")); err == nil {
		t.Error("the helper was asked")
	}
}

// A key from the helper takes the place of ours, and our request with it.
func TestAKeyFromTheHelper(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	s.signs(how)
	s.apply("features: [pki]")
	key := s.read("etc/ssl/private.pem")
	given := newSigning(t).CAKey
	cert, err := how.sign(publicOf(t, given), identity)
	if err != nil {
		t.Fatal(err)
	}
	how.Reply = map[string]any{"key": given, "certificate": cert}
	s.signs(how)
	s.want(s.apply("features: [pki]"), model.Changed, "ssl/private.pem written, ssl/csr.pem removed, ssl/certificate.pem written")
	if s.read("etc/ssl/private.pem") != given || given == key {
		t.Error("the key is not the helper's")
	}
	s.want(s.apply("features: [pki]"), model.Stable, "as the helper says")
	s.answersSigned(how, cert)
	s.want(s.apply(""), model.Stable, "as the helper says")

	if cert, err = how.sign(publicOf(t, key), identity); err != nil {
		t.Fatal(err)
	}
	s.answersSigned(how, cert)
	s.want(s.apply(""), model.Failed, "helper ./helper for "+identity+": the reply is refused: $.certificate: the certificate is not for the private key that the server has")
}

func publicOf(t *testing.T, key string) any {
	t.Helper()
	if private, err := x509.ParsePKCS1PrivateKey(block(key)); err == nil {
		return private.Public()
	}
	private, err := x509.ParseECPrivateKey(block(key))
	if err != nil {
		t.Fatal(err)
	}
	return private.Public()
}

// answersSigned answers with a certificate that was signed before.
func (s *site) answersSigned(how signing, cert string) {
	s.Helper()
	extra, err := json.Marshal(map[string]string{"certificate": cert, "ca": how.CACert, "ssldir": s.path("etc/ssl")})
	if err != nil {
		s.Fatal(err)
	}
	s.answers(minimal("," + strings.Trim(string(extra), "{}")))
}

func TestTheCertificateGoesWhereTheHelperSays(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	given := newSigning(t).CAKey
	cert, err := how.sign(publicOf(t, given), identity)
	if err != nil {
		t.Fatal(err)
	}
	extra, err := json.Marshal(map[string]string{"key": given, "certificate": cert, "ca": how.CACert, "ssldir": s.path("etc/other/ssl")})
	if err != nil {
		t.Fatal(err)
	}
	s.answers(minimal("," + strings.Trim(string(extra), "{}")))
	s.want(s.apply(""), model.Changed, "other/ssl/private.pem written, other/ssl/ca.pem written, other/ssl/certificate.pem written, server.conf written")
	if s.read("etc/other/ssl/private.pem") != given {
		t.Error("the key is not the helper's")
	}
}

// issuer is one who signs servers' tokens and the token with which they ask.
type issuer struct{ public, seed string }

// newIssuer writes an issuer's files and a provisioning token of it.
func newIssuer(s *site) issuer {
	s.Helper()
	public, key := newKey(s.T)
	i := issuer{public, key}
	s.write("issuer.public", public+"\n")
	s.write("issuer.seed", key+"\n")
	s.write("provisioning.jwt", provisioningToken(s.T, key, time.Hour))
	return i
}

const ed25519 = "features: [ed25519]\njwt_verify: issuer.public\njwt_signing_key: issuer.seed\njwt: provisioning.jwt"

func TestTokens(t *testing.T) {
	s := newSite(t)
	i := newIssuer(s)
	s.answers(fixture(t, "03-ed25519-claims"))
	s.apply(ed25519)
	claims, err := lib.ParseServerToken(s.read("etc/server.jwt"), decodeHex(t, i.public))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := claims.IsMatchingSeedFile(s.path("etc/server.seed")); !ok || err != nil {
		t.Errorf("the token is not the seed's: %v", err)
	}
	want := lib.ServerPermissions{Submission: true, Streams: true, Governor: true, ServiceHost: true}
	if claims.ChoriaIdentity != identity || claims.OrganizationUnit != "choria" || strings.Join(claims.Collectives, ",") != "choria" || *claims.Permissions != want ||
		strings.Join(claims.AdditionalPublishSubjects, ",") != "acme.metrics.>" || claims.ExpiresAt.Unix() != 2208988800 || claims.Issuer != "Choria Provisioner" {
		t.Errorf("claims %+v", claims)
	}
	token, seed := s.read("etc/server.jwt"), s.read("etc/server.seed")
	s.want(s.apply(ed25519), model.Stable, "as the helper says")

	s.answers(strings.Replace(fixture(t, "03-ed25519-claims"), `"ou": "choria"`, `"ou": "acme"`, 1))
	s.want(s.apply(ed25519), model.Changed, "server.jwt written")
	if s.read("etc/server.jwt") == token || s.read("etc/server.seed") != seed {
		t.Error("another organization needs another token, and the same seed")
	}
	s.write("etc/server.jwt", token[:len(token)-4]+"AAAA")
	s.want(s.apply(ed25519), model.Changed, "server.jwt written")
	if err := os.Remove(s.path("etc/server.seed")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(ed25519), model.Changed, "server.seed written, server.jwt written")
	s.write("etc/server.seed", "x")
	s.want(s.apply(ed25519), model.Failed, s.path("etc/server.seed")+": it is not the 64 hex digits of an ed25519 seed")
}

func TestWhatATokenSaysByDefault(t *testing.T) {
	tests := []struct {
		name, reply, properties string
		collectives             string
		validity                time.Duration
	}{
		{"nothing said", minimal(""), "", "mcollective", 365 * 24 * time.Hour},
		{"a security provider", `{"configuration": {"plugin.security.provider": "choria", "plugin.choria.server.provision": "false"}}`, "", "choria", 365 * 24 * time.Hour},
		{"collectives of the configuration", `{"configuration": {"plugin.security.provider": "choria", "collectives": " a, b ,", "plugin.choria.server.provision": "false"}}`, "server_jwt_validity: 30d", "a,b", 30 * 24 * time.Hour},
		{"an expiry that is none", minimal(`, "server_claims": {"exp": 157680000}`), "server_jwt_validity: 30d", "mcollective", 30 * 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			i := newIssuer(s)
			s.answers(tt.reply)
			s.want(s.apply(ed25519+"\n"+tt.properties), model.Changed, "server.seed written, …")
			claims, err := lib.ParseServerToken(s.read("etc/server.jwt"), decodeHex(t, i.public))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(claims.Collectives, ","); got != tt.collectives || claims.OrganizationUnit != "choria" || claims.Permissions != nil {
				t.Errorf("claims %+v", claims)
			}
			if validity := claims.ExpiresAt.Sub(claims.IssuedAt.Time); (validity - tt.validity).Abs() > time.Minute {
				t.Errorf("valid for %s", validity)
			}
			s.want(s.apply(ed25519+"\n"+tt.properties), model.Stable, "as the helper says")
		})
	}
}

// A token that does not verify fails the resource before the helper hears of it.
func TestATokenThatDoesNotVerify(t *testing.T) {
	s := newSite(t)
	newIssuer(s)
	_, other := newKey(t)
	s.script("touch asked; echo '{}'")
	properties := "features: [jwt]\njwt_verify: issuer.public\njwt: provisioning.jwt"
	s.write("provisioning.jwt", provisioningToken(t, other, time.Hour))
	s.want(s.apply(properties), model.Failed, "verify the provisioning token "+s.path("provisioning.jwt")+": token signature is invalid: …")
	s.write("issuer.public", "x")
	s.want(s.apply(properties), model.Failed, "verify the provisioning token "+s.path("provisioning.jwt")+": the key is neither PEM nor …")
	if err := os.Remove(s.path("provisioning.jwt")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(properties), model.Failed, "verify the provisioning token: open "+s.path("provisioning.jwt")+": no such file or directory")
	if _, err := os.Stat(s.path("asked")); err == nil {
		t.Error("the helper was asked")
	}
}
