package provision

import (
	"testing"

	"github.com/settle-cm/settle/resources/provision/contract"
)

// Our requests and keys have the form of the real system's.
func TestRequestsAndKeysHaveTheFormOfTheRealSystem(t *testing.T) {
	seen := 0
	for _, sample := range contract.Samples() {
		in, err := contract.ParseInput(sample.Data)
		if err != nil {
			t.Fatal(err)
		}
		if in.CSR == nil {
			continue
		}
		seen++
		theirs := contract.ParseRequest(in.CSR.CSR)
		if theirs == nil || requestedName(in.CSR.CSR) != in.Identity {
			t.Fatalf("the request is for %q", requestedName(in.CSR.CSR))
		}
		if public, err := publicPEM(theirs.PublicKey); err != nil || public != in.CSR.PublicKey {
			t.Errorf("public key\n%s\nwant\n%s\n%v", public, in.CSR.PublicKey, err)
		}
		text, err := newKeyPEM()
		if err != nil {
			t.Fatal(err)
		}
		key, err := contract.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		request, err := newRequest(in.Identity, key)
		if err != nil {
			t.Fatal(err)
		}
		ours := contract.ParseRequest(request)
		if string(ours.RawSubject) != string(theirs.RawSubject) || ours.SignatureAlgorithm != theirs.SignatureAlgorithm ||
			ours.PublicKeyAlgorithm != theirs.PublicKeyAlgorithm || len(ours.Extensions) != len(theirs.Extensions) || len(request) != len(in.CSR.CSR) {
			t.Errorf("our request is of another form:\n%s\nwant\n%s", request, in.CSR.CSR)
		}
	}
	if seen != 3 {
		t.Errorf("%d fixtures have a request", seen)
	}
}
