package signature

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var full = flag.Bool("full", false, "ask ssh-keygen about every input, not only a part")

const namespace = "settle-release@v1"

// keygen is a directory with a key, in which ssh-keygen is run.
type keygen struct{ dir string }

func newKeygen(t *testing.T) *keygen {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed (Debian package openssh-client)")
	}
	k := &keygen{t.TempDir()}
	k.run(t, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", k.path("key"))
	return k
}

func (k *keygen) path(name string) string { return filepath.Join(k.dir, name) }

func (k *keygen) run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %v: %v\n%s", args, err, out)
	}
}

func (k *keygen) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(k.path(name), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return k.path(name)
}

// publicKey returns the type and the base64 of the key.
func (k *keygen) publicKey(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(k.path(file + ".pub"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// sign signs texts in as few processes as possible.
func (k *keygen) sign(t *testing.T, texts ...[]byte) (armours []string) {
	t.Helper()
	args := []string{"-q", "-Y", "sign", "-f", k.path("key"), "-n", namespace}
	for i, text := range texts {
		args = append(args, k.write(t, fmt.Sprint("text", i), text))
	}
	k.run(t, args...)
	for i := range texts {
		armour, err := os.ReadFile(k.path(fmt.Sprint("text", i, ".sig")))
		if err != nil {
			t.Fatal(err)
		}
		armours = append(armours, string(armour))
		if err := os.Remove(k.path(fmt.Sprint("text", i, ".sig"))); err != nil {
			t.Fatal(err)
		}
	}
	return armours
}

// accepts reports whether ssh-keygen accepts a signature for the principal me.
func (k *keygen) accepts(t *testing.T, unique string, text []byte, armour, signers string) bool {
	t.Helper()
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", k.write(t, "signers"+unique, []byte(signers)), "-I", "me", "-n", namespace, "-s", k.write(t, "sig"+unique, []byte(armour)))
	cmd.Stdin = bytes.NewReader(text)
	return cmd.Run() == nil
}

func accepts(text []byte, armour, signers string) bool {
	s, err := ParseSigners([]byte(signers))
	if err != nil {
		return false
	}
	_, err = s.Verify(text, []string{armour}, namespace, time.Now())
	return err == nil
}

func TestSignaturesOfSSHKeygenAreAccepted(t *testing.T) {
	t.Parallel()
	k := newKeygen(t)
	signers := "me " + k.publicKey(t, "key") + "\n"
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([][]byte, 1000)
	for i := range texts {
		texts[i] = make([]byte, random.IntN(2000))
		for j := range texts[i] {
			texts[i][j] = byte(random.Uint32())
		}
	}
	for i, armour := range k.sign(t, texts...) {
		if !accepts(texts[i], armour, signers) {
			t.Errorf("the signature of text %d is refused", i)
		}
	}
}

// Every change of one byte is refused, or ssh-keygen accepts it as well: it is
// in the line breaks of the armour or in the comment of a key.
func TestWhatIsAcceptedSSHKeygenAcceptsToo(t *testing.T) {
	t.Parallel()
	k := newKeygen(t)
	text := []byte("{\"schema\": \"settle.release/v1\"}\n")
	armour := k.sign(t, text)[0]
	signers := `me namespaces="settle-release@v1",valid-before="29990101Z" ` + k.publicKey(t, "key") + "\n"
	if !accepts(text, armour, signers) || !k.accepts(t, "", text, armour, signers) {
		t.Fatal("the unchanged signature is refused")
	}
	masks := []byte{1, 0x20}
	if *full {
		masks = []byte{1, 2, 4, 8, 16, 32, 64, 128, 255}
	}
	var wait sync.WaitGroup
	busy := make(chan struct{}, 4)
	accepted := 0
	for _, mask := range masks {
		for what, whole := range [][]byte{text, []byte(armour), []byte(signers)} {
			for at := range whole {
				changed := bytes.Clone(whole)
				changed[at] ^= mask
				values := [][]byte{text, []byte(armour), []byte(signers)}
				values[what] = changed
				if !accepts(values[0], string(values[1]), string(values[2])) {
					continue
				}
				if what == 0 {
					t.Errorf("a text with a changed byte %d is accepted", at)
				}
				// The principal is ours to name: ssh-keygen is asked for "me" only.
				if what == 2 && at < len("me") {
					continue
				}
				accepted++
				busy <- struct{}{}
				wait.Go(func() {
					defer func() { <-busy }()
					if !k.accepts(t, fmt.Sprint(mask, what, at), values[0], string(values[1]), string(values[2])) {
						t.Errorf("byte %d of input %d changed by %#x: accepted, and refused by ssh-keygen:\n%q", at, what, mask, changed)
					}
				})
			}
		}
	}
	wait.Wait()
	t.Logf("%d changed inputs were accepted by both", accepted)
}

func TestVerifySaysWhy(t *testing.T) {
	t.Parallel()
	k := newKeygen(t)
	k.run(t, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", k.path("other"))
	k.run(t, "-q", "-t", "ecdsa", "-N", "", "-C", "", "-f", k.path("ecdsa"))
	text := []byte("text")
	armour := k.sign(t, text)[0]
	key := k.publicKey(t, "key")
	ecdsa := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", k.path("ecdsa"), "-n", namespace)
	ecdsa.Stdin = bytes.NewReader(text)
	foreign, err := ecdsa.Output()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		signers, namespace, armour, want string
	}{
		"accepted":           {"me " + key, namespace, armour, ""},
		"two keys":           {"you " + k.publicKey(t, "other") + "\nme " + key, namespace, armour, ""},
		"another key":        {"you " + k.publicKey(t, "other"), namespace, armour, "the signing key is not in allowed_signers"},
		"another namespace":  {"me " + key, "settle-rollout@v1", armour, `the signature is for namespace "settle-release@v1", not "settle-rollout@v1"`},
		"namespace of line":  {`ci namespaces="settle-rollout@v1" ` + key, namespace, armour, "ci may not sign in namespace settle-release@v1"},
		"not valid yet":      {`me valid-after="20270101Z" ` + key, namespace, armour, "the key of me is not valid before 2027-01-01T00:00:00Z"},
		"not valid any more": {`me valid-before="20260101Z" ` + key, namespace, armour, "the key of me is not valid after 2026-01-01T00:00:00Z"},
		"in time":            {`me valid-after="20260101Z",valid-before="202701010000Z" ` + key, namespace, armour, ""},
		"another type":       {"me " + key, namespace, string(foreign), `the key is of type "ecdsa-sha2-nistp256": only ssh-ed25519 is accepted`},
		"no signature":       {"me " + key, namespace, "hello", "it is not an armoured SSH signature"},
		"cut":                {"me " + key, namespace, begin + "U1NIU0lHAAAAAQ==" + end, "the signature is cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseSigners([]byte(c.signers))
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Verify(text, []string{c.armour}, c.namespace, now)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("says %v", err)
			}
		})
	}
	s, err := ParseSigners([]byte("me " + key))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(text, nil, namespace, now); err == nil || err.Error() != "it is not signed" {
		t.Errorf("says %v", err)
	}
	if who, err := s.Verify(text, []string{string(foreign), armour}, namespace, now); who != "me" || err != nil {
		t.Errorf("of two signatures one is allowed, and it says %q, %v", who, err)
	}
}

func TestParseSignersReportsEveryBrokenLine(t *testing.T) {
	t.Parallel()
	key := "ssh-ed25519 " + base64.StdEncoding.EncodeToString(appendStrings(nil, []byte(keyType), make([]byte, 32)))
	text := strings.Join([]string{
		"# a comment", "", "me " + key + " comment", "you ssh-rsa AAAA",
		"a cert-authority " + key,
		`b namespaces=x ` + key,
		`c valid-after="yesterday" ` + key,
		`d unknown ` + key,
		"e ssh-ed25519 !!!",
		"f ssh-ed25519 AAAA",
		`g "open ` + key,
		"h",
		"!i " + key,
		`j namespaces="a",, ` + key,
	}, "\n")
	s, err := ParseSigners([]byte(text))
	const want = `line 5: cert-authority is not supported: list the keys themselves
line 6: the value of option namespaces is not in quotes
line 7: the time "yesterday" is not like 20270131 or 202701312359Z
line 8: the option "unknown" is unknown
line 9: the key is not valid base64
line 10: the key is not an ed25519 key
line 11: a quote is not closed
line 12: write PRINCIPALS [OPTIONS] KEYTYPE KEY
line 13: a principal must not contain quotes or exclamation marks
line 14: options are separated by one comma`
	if err == nil || err.Error() != want {
		t.Errorf("says\n%v", err)
	}
	if len(s.lines) != 1 {
		t.Errorf("%d lines are usable", len(s.lines))
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	one := begin + "AAAA" + end + "\n"
	if all, err := Split([]byte(one + "\n" + one)); err != nil || len(all) != 2 || all[0] != one || all[1] != one {
		t.Errorf("%q, %v", all, err)
	}
	for _, text := range []string{"x", one + "x", begin} {
		if _, err := Split([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if _, err := Split([]byte(strings.Repeat(one, 17))); err == nil || err.Error() != "read signature: more than 16 signatures" {
		t.Errorf("says %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("text"), begin+"U1NIU0lHAAAAAQ=="+end+"\n", "me ssh-ed25519 AAAA")
	f.Fuzz(func(t *testing.T, text []byte, armour, signers string) {
		s, err := ParseSigners([]byte(signers))
		if err != nil {
			return
		}
		if who, err := s.Verify(text, []string{armour}, namespace, time.Now()); err == nil {
			t.Errorf("a signature of %s was forged", who)
		}
	})
}
