// Package signature verifies signatures made by `ssh-keygen -Y sign` against an
// OpenSSH allowed_signers file. It accepts less than ssh-keygen does, never more:
// only ssh-ed25519 keys, no certificates, no FIDO keys.
package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	begin   = "-----BEGIN SSH SIGNATURE-----\n"
	end     = "\n-----END SSH SIGNATURE-----"
	keyType = "ssh-ed25519"
	magic   = "SSHSIG"

	// maxSignatures bounds how many signatures may stand on one text.
	maxSignatures = 16
	// maxArmour bounds one signature; an ed25519 one has about 300 bytes.
	maxArmour = 4096
)

// Split returns the armoured signatures that stand one after the other in text.
func Split(text []byte) ([]string, error) {
	var all []string
	for rest := bytes.TrimLeft(text, "\r\n"); len(rest) > 0; rest = bytes.TrimLeft(rest, "\r\n") {
		at := bytes.Index(rest, []byte(end))
		if !bytes.HasPrefix(rest, []byte(begin)) || at < 0 {
			return nil, errors.New("read signature: it is not an armoured SSH signature: make it with ssh-keygen -Y sign")
		}
		if len(all) == maxSignatures {
			return nil, fmt.Errorf("read signature: more than %d signatures", maxSignatures)
		}
		all = append(all, string(rest[:at+len(end)])+"\n")
		rest = rest[at+len(end):]
	}
	return all, nil
}

// Verify returns the principals of the first signature that fits the text, the
// namespace and a signer with a valid entry at the time now. Otherwise the error
// says of each signature why it does not count.
func (s *Signers) Verify(text []byte, armours []string, namespace string, now time.Time) (string, error) {
	if len(armours) == 0 {
		return "", errors.New("it is not signed")
	}
	if len(armours) > maxSignatures {
		return "", fmt.Errorf("more than %d signatures", maxSignatures)
	}
	var reasons []error
	for _, armour := range armours {
		key, err := check(text, []byte(armour), namespace)
		if err == nil {
			var who string
			if who, err = s.find(key, namespace, now); err == nil {
				return who, nil
			}
		}
		if !slices.ContainsFunc(reasons, func(other error) bool { return other.Error() == err.Error() }) {
			reasons = append(reasons, err) // of two signatures by one key once
		}
	}
	return "", errors.Join(reasons...)
}

// check verifies one signature and returns the key that made it.
func check(text, armour []byte, namespace string) (key []byte, err error) {
	blob, err := decodeArmour(armour)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(blob, []byte(magic+"\x00\x00\x00\x01"))
	if !ok {
		return nil, errors.New("the signature is not an SSHSIG of version 1")
	}
	var fields [5][]byte // key, namespace, reserved, hash, signature
	for i := range fields {
		if fields[i], rest, err = cutString(rest); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 {
		return nil, errors.New("the signature has bytes behind its end")
	}
	if got := string(fields[1]); got != namespace {
		return nil, fmt.Errorf("the signature is for namespace %q, not %q", got, namespace)
	}
	public, err := typed(fields[0], "key")
	if err != nil {
		return nil, err
	}
	sum, err := hash(string(fields[3]), text)
	if err != nil {
		return nil, err
	}
	raw, err := typed(fields[4], "signature")
	if err != nil {
		return nil, err
	}
	signed := append([]byte(magic), appendStrings(nil, fields[1], fields[2], fields[3], sum)...)
	if len(public) != ed25519.PublicKeySize || !ed25519.Verify(public, signed, raw) {
		return nil, errors.New("the signature does not fit the text")
	}
	return fields[0], nil
}

func decodeArmour(armour []byte) ([]byte, error) {
	if len(armour) > maxArmour {
		return nil, fmt.Errorf("the signature is longer than %d bytes", maxArmour)
	}
	body, ok := bytes.CutPrefix(armour, []byte(begin))
	at := bytes.Index(body, []byte(end))
	if !ok || at < 0 || len(bytes.Trim(body[at+len(end):], "\n")) > 0 {
		return nil, errors.New("it is not an armoured SSH signature")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(string(body[:at]))
	if err != nil {
		return nil, errors.New("the signature is not valid base64")
	}
	return blob, nil
}

func hash(name string, text []byte) ([]byte, error) {
	switch name {
	case "sha512":
		sum := sha512.Sum512(text)
		return sum[:], nil
	case "sha256":
		sum := sha256.Sum256(text)
		return sum[:], nil
	}
	return nil, fmt.Errorf("the signature uses the hash %q, not sha512 or sha256", name)
}

// typed returns the value of a key or signature blob of the type ssh-ed25519.
func typed(blob []byte, what string) ([]byte, error) {
	name, rest, err := cutString(blob)
	if err != nil {
		return nil, err
	}
	if string(name) != keyType {
		return nil, fmt.Errorf("the %s is of type %q: only %s is accepted", what, name, keyType)
	}
	value, rest, err := cutString(rest)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("the %s has bytes behind its end", what)
	}
	return value, err
}

// cutString takes one length-prefixed string of the SSH wire format.
func cutString(b []byte) (value, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errors.New("the signature is cut short")
	}
	n := binary.BigEndian.Uint32(b)
	return b[4 : 4+n], b[4+n:], nil
}

func appendStrings(b []byte, parts ...[]byte) []byte {
	for _, part := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return slices.Clip(b)
}
