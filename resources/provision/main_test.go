package provision_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/resources"
)

const identity = "node1.example.net"

// roleVar makes the test binary a helper: one that has to sign what it is asked
// to, which a shell script cannot.
const roleVar = "SETTLE_PROVISION_TEST"

func TestMain(m *testing.M) {
	proc.Main()
	switch os.Getenv(roleVar) {
	case "sign":
		signingHelper(os.Args[1])
	case "apply":
		_ = os.Unsetenv(roleVar)
		applyOnce(os.Args[1])
	default:
		os.Exit(m.Run())
	}
}

// site is where a test has its manifest, its server and its helper.
type site struct {
	*testing.T
	dir    string
	memory *model.Memory // of the last run
	facts  []model.Record
	heard  []string             // lines of output of the last run
	report model.ResourceReport // of the last run
}

func newSite(t *testing.T) *site {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")) // no parallel tests: they change the environment
	return &site{T: t, dir: t.TempDir()}
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, content string) string {
	s.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.Fatal(err)
	}
	return path
}

func (s *site) read(name string) string {
	s.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}

// script makes the site's helper a shell script.
func (s *site) script(text string) {
	s.Helper()
	if err := os.Chmod(s.write("helper", "#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		s.Fatal(err)
	}
}

// answers makes the site's helper one that reads its input and answers so.
func (s *site) answers(reply string) {
	s.Helper()
	s.write("reply.json", reply)
	s.script("cat >input.json; cat reply.json")
}

// minimal is an answer to which a test adds.
func minimal(extra string) string {
	return `{"configuration": {"identity": "node1.example.net", "plugin.choria.server.provision": "false"}` + extra + `}`
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	found, err := filepath.Glob("../../testdata/helper/output/" + name + ".*")
	if err != nil || len(found) != 1 {
		t.Fatalf("fixture %s: found %v, %v", name, found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// signs makes the site's helper one that signs: what it is told is in sign.json.
func (s *site) signs(how signing) {
	s.Helper()
	data, err := json.Marshal(how)
	if err != nil {
		s.Fatal(err)
	}
	s.write("sign.json", string(data))
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	s.script(fmt.Sprintf("%s=sign exec %s %s", roleVar, self, s.path("sign.json")))
}

// manifest is one provision, with the given properties beside the usual ones.
func (s *site) manifest(properties string) string {
	text := "name: test\nresources:\n  - provision:\n      - " + identity + ":\n" +
		"          helper: ./helper\n          directory: etc\n"
	if !strings.Contains(properties, "inventory") {
		text += "          inventory: {facts: {rack: 12}}\n"
	}
	for line := range strings.Lines(properties) {
		text += "          " + strings.TrimRight(line, "\n") + "\n"
	}
	return text
}

// load loads a manifest as the command line would.
func load(dir, text string, w resources.World) (*model.Manifest, model.Problems) {
	m, problems, _ := loadAll(dir, text, w)
	return m, problems
}

// loadAll returns the warnings too.
func loadAll(dir, text string, w resources.World) (m *model.Manifest, problems, warnings model.Problems) {
	if w.Environ == nil {
		w.Environ = os.Environ()
	}
	w.StateDir, w.Grace = filepath.Join(dir, "state"), 100*time.Millisecond
	return manifests.Load(manifests.Source{Path: "m.yaml", Dir: dir, Identity: filepath.Join(dir, "m.yaml"), Bytes: []byte(text)}, resources.Types(w))
}

// Append makes the site a journal.
func (s *site) Append(facts []model.Record, _ bool) error {
	s.facts = append(s.facts, facts...)
	return nil
}

// walk applies or previews the manifest and returns the outcome of its first resource.
func (s *site) walk(act engine.Act, text string) *model.Result {
	s.Helper()
	return s.walkWith(act, text, false)
}

func (s *site) walkWith(act engine.Act, text string, askHelpers bool) *model.Result {
	s.Helper()
	m, problems := load(s.dir, text, resources.World{Run: "r"})
	if len(problems) > 0 {
		s.Fatal(problems)
	}
	memory := model.Replay(s.facts)
	s.heard = nil
	outcomes, err := engine.Run(context.Background(), &model.Plan{Manifest: m, Memory: memory, Run: fmt.Sprint(len(s.facts))}, engine.Options{
		Act: act, Journal: s, RemembersState: true, Now: time.Now, Probe: askHelpers,
		Watch: engine.Watch{Output: func(_ int, line []byte) { s.heard = append(s.heard, string(line)) }},
	})
	if err != nil {
		s.Fatal(err)
	}
	memory = model.Replay(s.facts)
	s.memory = &memory
	s.report = model.NewResourceReport(&m.Resources[0], &outcomes[0], nil)
	return &outcomes[0]
}

func (s *site) apply(properties string) *model.Result {
	s.Helper()
	return s.walk(engine.Apply, s.manifest(properties))
}

// want checks status and reason. A reason that ends in … is a beginning.
func (s *site) want(o *model.Result, status model.Status, reason string) {
	s.Helper()
	beginning, cut := strings.CutSuffix(reason, "…")
	if o.Status != status || !cut && o.Reason != reason || !strings.HasPrefix(o.Reason, beginning) {
		s.Fatalf("%s: %s\nwant %s: %s", o.Status, o.Reason, status, reason)
	}
}

func (s *site) warns(o *model.Result, want ...string) {
	s.Helper()
	var got []string
	for _, w := range o.Warnings {
		got = append(got, w)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.Errorf("warnings %q, want %q", got, want)
	}
}

// tree lists what is below the server's directory, with modes.
func (s *site) tree() string {
	s.Helper()
	var list []string
	err := filepath.WalkDir(s.path("etc"), func(path string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			rel, _ := filepath.Rel(s.dir, path)
			list = append(list, fmt.Sprintf("%s %04o", rel, info.Mode().Perm()))
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// signing is what a helper that signs is told.
type signing struct {
	CAKey, CACert string        // PEM
	Validity      time.Duration // of the certificate
	Age           time.Duration // how long ago it was signed
	Name          string        // "": as asked for
	SANs          []string
	Defer         bool // it has to wait for someone to approve
	Reply         map[string]any
}

// newSigning makes an authority.
func newSigning(t testing.TB) signing {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-5, 0, 0), NotAfter: time.Now().AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return signing{
		CAKey:    string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})),
		CACert:   string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		Validity: 300 * 24 * time.Hour,
	}
}

func block(text string) []byte {
	b, _ := pem.Decode([]byte(text))
	if b == nil {
		panic("no PEM: " + text)
	}
	return b.Bytes
}

// sign makes a certificate of the authority.
func (how signing) sign(public crypto.PublicKey, name string) (string, error) {
	ca, err := x509.ParseCertificate(block(how.CACert))
	if err != nil {
		return "", err
	}
	key, err := x509.ParseECPrivateKey(block(how.CAKey))
	if err != nil {
		return "", err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		return "", err
	}
	from := time.Now().Add(-how.Age)
	cert := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: from.Add(how.Validity), DNSNames: how.SANs}
	der, err := x509.CreateCertificate(rand.Reader, cert, ca, public, key)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), err
}

// signingHelper is a helper that signs the request that it gets, with a new
// certificate at every call. It leaves the input beside what it is told.
func signingHelper(told string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	var how signing
	data, err := os.ReadFile(told)
	fail(err)
	fail(json.Unmarshal(data, &how))
	input, err := io.ReadAll(os.Stdin)
	fail(err)
	fail(os.WriteFile(filepath.Join(filepath.Dir(told), "input.json"), input, 0o600))
	var in struct {
		Identity string
		CSR      struct{ CSR, SSLDir string }
	}
	fail(json.Unmarshal(input, &in))
	csr, err := x509.ParseCertificateRequest(block(in.CSR.CSR))
	fail(err)
	fail(csr.CheckSignature())
	name := in.Identity
	if how.Name != "" {
		name = how.Name
	}
	cert, err := how.sign(csr.PublicKey, name)
	fail(err)
	reply := map[string]any{
		"configuration": map[string]string{"identity": in.Identity, "plugin.choria.server.provision": "false"},
		"certificate":   cert, "ca": how.CACert, "ssldir": in.CSR.SSLDir,
	}
	for k, v := range how.Reply {
		reply[k] = v
	}
	if how.Defer {
		reply = map[string]any{"defer": true, "msg": "waiting for approval"}
	}
	fail(json.NewEncoder(os.Stdout).Encode(reply))
	os.Exit(0)
}

// applyOnce applies the manifest m.yaml in a directory, for a test that kills it.
func applyOnce(dir string) {
	data, err := os.ReadFile(filepath.Join(dir, "m.yaml"))
	if err != nil {
		panic(err)
	}
	m, problems := load(dir, string(data), resources.World{Run: "r"})
	if len(problems) > 0 {
		panic(problems.Error())
	}
	_, err = engine.Run(context.Background(), &model.Plan{Manifest: m, Memory: model.Replay(nil)}, engine.Options{
		Act: engine.Apply, Journal: engine.NoJournal{}, Now: time.Now,
	})
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}
