package provision

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// Prepare returns what the helper of a provision would be told now: the exact
// bytes. It writes nothing: keys that the server has yet to get are made up.
func Prepare(ctx context.Context, spec model.Spec) ([]byte, error) {
	s, ok := spec.(*server)
	if !ok {
		return nil, errors.New("it is no provision")
	}
	m, err := s.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return m.input, nil
}

// Trial is what would become of a reply, on a server that has nothing yet.
type Trial struct {
	contract.Verdict
	Files []File // for Apply
}

// File is one that a reply asks for.
type File struct {
	Path string
	Mode uint32
	Text string // secrets as ***
	Note string // shown instead of Text if Text needs the site's keys
}

// Try judges a reply to an input. Features are those that the input shows, and
// upgrades when they are asked for. The error is why it is no reply.
func Try(in *contract.Input, reply []byte, upgrades bool, now time.Time) (*Trial, error) {
	r, err := contract.ParseReply(reply, nil)
	if err != nil {
		return nil, err
	}
	s := &server{identity: in.Identity, dir: "/etc/choria"}
	s.features = contract.Features{PKI: in.CSR != nil, Ed25519: in.Ed25519 != nil, JWT: in.JWT != nil, Upgrades: upgrades}
	if in.Ed25519 != nil && in.Ed25519.Directory != "" {
		s.dir = in.Ed25519.Directory
	}
	s.ssldir = filepath.Join(s.dir, "ssl")
	situation := contract.Situation{Identity: in.Identity, Now: now, Features: s.features}
	if inv, err := contract.ParseInventory([]byte(in.Inventory)); err == nil {
		situation.Version = inv.Version
	}
	if in.CSR != nil {
		s.ssldir, situation.SSLDir = in.CSR.SSLDir, in.CSR.SSLDir
		if csr := contract.ParseRequest(in.CSR.CSR); csr != nil {
			situation.Key = csr.PublicKey
		}
	}
	t := &Trial{Verdict: contract.Judge(r, situation)}
	if t.Action == contract.Apply {
		t.Files = s.trialFiles(r)
	}
	return t, nil
}

// trialFiles lists the files of a reply without looking at any machine.
func (s *server) trialFiles(r *contract.Reply) []File {
	var files []File
	if s.features.Ed25519 {
		files = append(files, File{Path: s.dir + "/server.jwt", Mode: 0o600, Note: "the token that settle signs"})
	}
	asked := *s
	asked.features.PKI = false // its key and request are there before any reply
	asked.ssldir = s.sslDir(r)
	list := asked.credentialTargets(&contract.Reply{Key: r.Key, Certificate: r.Certificate, CA: r.CA}, nil)
	list = append(list, s.policyFiles(s.actionPolicies(), r.ActionPolicies)...)
	list = append(list, s.policyFiles(s.opaPolicies(), r.OPAPolicies)...)
	list = append(list, target{path: filepath.Join(s.dir, "server.conf"), mode: 0o600, text: configuration(r.Configuration)})
	for _, t := range list {
		switch {
		case t.dir || t.gone:
		case t.secret:
			files = append(files, File{Path: t.path, Mode: t.mode, Text: hidden})
		default:
			files = append(files, File{Path: t.path, Mode: t.mode, Text: redactConfiguration(t.text)})
		}
	}
	return files
}
