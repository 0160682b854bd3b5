package tokens

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lib "github.com/choria-io/tokens"
	"github.com/google/go-cmp/cmp"
	"github.com/settle-cm/settle/resources/provision/contract"
)

func newKey(t *testing.T) (ed25519.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return pub, key
}

func sign(t *testing.T, claims any, key any) string {
	t.Helper()
	var token string
	var err error
	switch c := claims.(type) {
	case *lib.ProvisioningClaims:
		token, err = lib.SignToken(c, key)
	case *lib.ClientIDClaims:
		token, err = lib.SignToken(c, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func provisioning(t *testing.T, validity time.Duration) *lib.ProvisioningClaims {
	t.Helper()
	claims, err := lib.NewProvisioningClaims(true, true, "toomanysecrets", "user", "s3cret", []string{"nats://broker:4222"}, "", "/reg", "/facts", "", "", validity)
	if err != nil {
		t.Fatal(err)
	}
	claims.Extensions = lib.MapClaims{"big": json.Number("12345678901234567890"), "ratio": json.Number("1.0"), "html": "<&>"}
	return claims
}

func TestVerify(t *testing.T) {
	pub, key := newKey(t)
	_, other := newKey(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	rsaPEM := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	hexKey := hex.EncodeToString(pub)
	good := provisioning(t, time.Hour)
	client, err := lib.NewClientIDClaims("choria=x", nil, "", nil, "", "", time.Hour, nil, pub)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, token, key, err string }{
		{"ed25519", sign(t, good, key), hexKey, ""},
		{"ed25519, with newlines", sign(t, good, key) + "\n", hexKey + "\n", ""},
		{"RSA", sign(t, good, rsaKey), rsaPEM, ""},
		{"RSA by certificate", sign(t, good, rsaKey), certificate(t, rsaKey), ""},
		{"RSA in its old form", sign(t, good, rsaKey), string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&rsaKey.PublicKey)})), ""},
		{"another's signature", sign(t, good, other), hexKey, "token signature is invalid: ed25519: verification error"},
		{"expired", sign(t, provisioning(t, -time.Hour), key), hexKey, "token has invalid claims: token is expired"},
		{"a key of another kind", sign(t, good, rsaKey), hexKey, "token is unverifiable: error while executing keyfunc: rsa public key required"},
		{"another kind of token", sign(t, client, key), hexKey, "not a provisioning token"},
		{"no token", "x", hexKey, "token is malformed: token contains an invalid number of segments"},
		{"no key", sign(t, good, key), "x", "the key is neither PEM nor the 64 hex digits of an ed25519 public key"},
		{"broken PEM", sign(t, good, key), "-----BEGIN PUBLIC KEY-----\nx", "the key is broken PEM"},
		{"a private key", sign(t, good, key), string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})), `the PEM block "RSA PRIVATE KEY" holds no RSA or ed25519 public key`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			claims, err := Verify(tt.token, tt.key)
			if got := text(err); got != tt.err {
				t.Fatalf("error:\n got %s\nwant %s", got, tt.err)
			}
			if err != nil {
				return
			}
			if !bytes.Contains(claims, []byte(`"extensions":{"big":12345678901234567890,"html":"\u003c\u0026\u003e","ratio":1.0}`)) {
				t.Errorf("claims %s", claims)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func certificate(t *testing.T, key *rsa.PrivateKey) string {
	t.Helper()
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestVerifyReadsRealClaims: what the real system sends as jwt, our claims are to
// the byte.
func TestVerifyReadsRealClaims(t *testing.T) {
	pub, key := newKey(t)
	found := 0
	for _, pattern := range []string{"../../resources/provision/contract/samples/*.json", "../../resources/provision/contract/samples/captured/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var input struct{ JWT json.RawMessage }
			var claims lib.ProvisioningClaims
			if err := json.Unmarshal(data, &input); err != nil {
				t.Fatal(err)
			}
			if string(input.JWT) == "null" {
				continue
			}
			if err := json.Unmarshal(input.JWT, &claims); err != nil {
				t.Fatal(err)
			}
			found++
			claims.IssuedAt, claims.NotBefore = nil, nil // the fixtures may be from the future
			want, err := json.Marshal(&claims)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Verify(sign(t, &claims, key), hex.EncodeToString(pub))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: claims\n%s\nwant\n%s\n%v", file, got, want, err)
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d fixtures have claims", found)
	}
}

// chain is an issuer with one who may sign in its name.
type chain struct {
	root   ed25519.PublicKey
	signer contract.Signer
}

func newChain(t *testing.T, validity time.Duration) chain {
	t.Helper()
	root, rootKey := newKey(t)
	pub, key := newKey(t)
	claims, err := lib.NewClientIDClaims("choria=signer", nil, "choria", nil, "", "", validity, nil, pub)
	if err != nil {
		t.Fatal(err)
	}
	if err := claims.AddOrgIssuerData(rootKey); err != nil {
		t.Fatal(err)
	}
	return chain{root, contract.Signer{Seed: key.Seed(), Token: sign(t, claims, rootKey)}}
}

func server(t *testing.T) contract.Token {
	t.Helper()
	pub, _ := newKey(t)
	return contract.Token{
		Identity: "node1", Org: "acme", Collectives: []string{"a", "b"}, PubSubjects: []string{"acme.>"}, PublicKey: pub,
		Expires: time.Now().AddDate(1, 0, 0), Permitted: true, Streams: true, ServiceHost: true,
	}
}

func TestSign(t *testing.T) {
	s := server(t)
	pub, key := newKey(t)
	token, err := Sign(s, contract.Signer{Seed: key.Seed()})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := lib.ParseServerToken(token, pub)
	if err != nil {
		t.Fatal(err)
	}
	if claims.ChoriaIdentity != "node1" || claims.OrganizationUnit != "acme" || claims.Issuer != "Choria Provisioner" || claims.PublicKey != hex.EncodeToString(s.PublicKey) ||
		!claims.ExpiresAt.Equal(s.Expires.Truncate(time.Second)) {
		t.Errorf("claims %+v", claims)
	}
	if diff := cmp.Diff(&lib.ServerPermissions{Streams: true, ServiceHost: true}, claims.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	if _, err := lib.ParseServerToken(token, s.PublicKey); err == nil {
		t.Error("it verifies with another key")
	}
}

func TestSignInAChain(t *testing.T) {
	s := server(t)
	c := newChain(t, 30*24*time.Hour)
	token, err := Sign(s, c.signer)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := lib.ParseServerToken(token, c.root)
	if err != nil {
		t.Fatal(err)
	}
	if ok, _, err := claims.IsSignedByIssuer(c.root); !ok || err != nil {
		t.Errorf("the chain does not verify: %v", err)
	}
	if left := time.Until(claims.ExpiresAt.Time); left > 30*24*time.Hour {
		t.Errorf("it outlives its signer: %s", left)
	}
	s.Expires = time.Now().Add(2 * time.Hour)
	if token, err = Sign(s, c.signer); err != nil {
		t.Fatal(err)
	}
	if claims, err = lib.ParseServerToken(token, c.root); err != nil || !claims.ExpiresAt.Equal(s.Expires.Truncate(time.Second)) {
		t.Errorf("a shorter life is not kept: %v, %v", claims, err)
	}
}

func TestUnauthorisedSignersAreRefused(t *testing.T) {
	s := server(t)
	_, key := newKey(t)
	good := newChain(t, time.Hour)
	plain, err := lib.NewClientIDClaims("choria=x", nil, "", nil, "", "", time.Hour, nil, s.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	forged := newChain(t, time.Hour).signer.Token
	forged = forged[:len(forged)-10] + "AAAAAAAAAA"
	tests := []struct {
		name string
		by   contract.Signer
		err  string
	}{
		{"no seed", contract.Signer{Seed: []byte("x")}, "the signing key is not a seed of 32 bytes"},
		{"another's seed", contract.Signer{Seed: key.Seed(), Token: good.signer.Token}, "the signing key is not the one that the signer's token is for"},
		{"expired", newChain(t, -time.Hour).signer, "read the signer's token: it expired on "},
		{"not of a chain", contract.Signer{Seed: key.Seed(), Token: sign(t, plain, key)}, "read the signer's token: it is not one that an issuer lets sign others"},
		{"forged", contract.Signer{Seed: key.Seed(), Token: forged}, "read the signer's token: could not parse client id token: token signature is invalid"},
		{"no token", contract.Signer{Seed: key.Seed(), Token: "x"}, "read the signer's token: token is malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Sign(s, tt.by); err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("error:\n got %v\nwant %s…", err, tt.err)
			}
			if _, err := IsCurrent("x", s, tt.by); err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("error of Keep:\n got %v\nwant %s…", err, tt.err)
			}
		})
	}
}

func TestIsCurrent(t *testing.T) {
	was := server(t)
	_, key := newKey(t)
	_, other := newKey(t)
	by := contract.Signer{Seed: key.Seed()}
	c := newChain(t, 60*24*time.Hour)
	day := 24 * time.Hour
	pub, _ := newKey(t)
	tests := []struct {
		name   string
		signer contract.Signer
		change func(*contract.Token)
		by     contract.Signer
		want   bool
	}{
		{name: "the same", want: true},
		{name: "a year from now, a day later", change: func(s *contract.Token) { s.Expires = s.Expires.Add(day) }, want: true},
		{name: "a month longer", change: func(s *contract.Token) { s.Expires = s.Expires.Add(30 * day) }},
		{name: "a month shorter", change: func(s *contract.Token) { s.Expires = s.Expires.Add(-30 * day) }},
		{name: "another identity", change: func(s *contract.Token) { s.Identity = "node2" }},
		{name: "another organization", change: func(s *contract.Token) { s.Org = "choria" }},
		{name: "another collective", change: func(s *contract.Token) { s.Collectives = []string{"a"} }},
		{name: "another subject", change: func(s *contract.Token) { s.PubSubjects = nil }},
		{name: "another permission", change: func(s *contract.Token) { s.Governor = true }},
		{name: "no permissions", change: func(s *contract.Token) { s.Permitted = false }},
		{name: "another key", change: func(s *contract.Token) { s.PublicKey = pub }},
		{name: "another signer", by: contract.Signer{Seed: other.Seed()}},
		{name: "in a chain", signer: c.signer, by: c.signer, want: true},
		{name: "from a signer to a chain", by: c.signer},
		{name: "from a chain to a signer", signer: c.signer, by: by},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.signer.Seed == nil {
				tt.signer = by
			}
			if tt.by.Seed == nil {
				tt.by = by
			}
			token, err := Sign(was, tt.signer)
			if err != nil {
				t.Fatal(err)
			}
			s := was
			if tt.change != nil {
				tt.change(&s)
			}
			if got, err := IsCurrent(token, s, tt.by); got != tt.want || err != nil {
				t.Errorf("kept: %v, %v", got, err)
			}
		})
	}
	for _, token := range []string{"", "x", "a.b.c"} {
		if kept, err := IsCurrent(token, was, by); kept || err != nil {
			t.Errorf("%q is kept: %v, %v", token, kept, err)
		}
	}
}

// aged signs a token as it would have been some time ago.
func aged(t *testing.T, s contract.Token, key ed25519.PrivateKey, ago, validity time.Duration) string {
	t.Helper()
	claims, _, _, err := prepare(s, contract.Signer{Seed: key.Seed()})
	if err != nil {
		t.Fatal(err)
	}
	claims.IssuedAt.Time = claims.IssuedAt.Add(-ago) // NotBefore is the same
	claims.ExpiresAt.Time = claims.IssuedAt.Add(validity)
	token, err := lib.SignToken(claims, key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokenIsCurrentUntilAThirdIsLeft(t *testing.T) {
	s := server(t)
	_, key := newKey(t)
	const validity = 30 * 24 * time.Hour
	for _, tt := range []struct {
		age  time.Duration
		want bool
	}{{0, true}, {19 * 24 * time.Hour, true}, {21 * 24 * time.Hour, false}, {31 * 24 * time.Hour, false}} {
		token := aged(t, s, key, tt.age, validity)
		s.Expires = time.Now().Add(validity)
		if got, err := IsCurrent(token, s, contract.Signer{Seed: key.Seed()}); got != tt.want || err != nil {
			t.Errorf("after %s: kept %v, %v", tt.age, got, err)
		}
	}
}

// An expiry that is asked for as a moment is met by that moment, however much of
// the way there is behind.
func TestTokenIsCurrentForAnEqualExpiry(t *testing.T) {
	s := server(t)
	_, key := newKey(t)
	token := aged(t, s, key, 15*24*time.Hour, 30*24*time.Hour)
	claims, err := lib.ParseServerTokenUnverified(token)
	if err != nil {
		t.Fatal(err)
	}
	s.Expires = claims.ExpiresAt.Time
	if got, err := IsCurrent(token, s, contract.Signer{Seed: key.Seed()}); !got || err != nil {
		t.Errorf("kept %v, %v", got, err)
	}
}
