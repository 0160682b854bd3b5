// Package bus speaks NATS. It is the only package that knows the library. What
// comes over the bus is trusted with nothing: releases and rollouts are signed,
// and everything else is a machine's account of itself.
package bus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Context is a NATS context file (ADR-21), as the nats command keeps them.
type Context struct {
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
	User        string `json:"user,omitempty"`
	Password    string `json:"password,omitempty"`
	Token       string `json:"token,omitempty"`
	Creds       string `json:"creds,omitempty"`
	NKey        string `json:"nkey,omitempty"`
	UserJWT     string `json:"user_jwt,omitempty"`
	Cert        string `json:"cert,omitempty"`
	Key         string `json:"key,omitempty"`
	CA          string `json:"ca,omitempty"`
	TLSFirst    bool   `json:"tls_first,omitempty"`
	InboxPrefix string `json:"inbox_prefix,omitempty"`
	Domain      string `json:"jetstream_domain,omitempty"`

	dir string // relative paths are below it
}

// ignored are keys of a context that do not change how settle-fleet connects.
// Keys that are in neither list would, so they are refused unless empty.
var ignored = map[string]bool{"color_scheme": true, "description": true, "jetstream_event_prefix": true}

// LoadContext reads a context from a file, or by its name from the directory of
// the nats command.
func LoadContext(name string) (*Context, error) {
	path := name
	if !strings.ContainsAny(name, "/.") {
		home, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("read NATS context %s: %w", name, err)
		}
		path = filepath.Join(home, "nats", "context", name+".json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read NATS context: %w", err)
	}
	c := &Context{dir: filepath.Dir(path)}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("read NATS context %s: %w", path, err)
	}
	for key, value := range keys {
		if ignored[key] || value == "" || value == false || value == nil {
			delete(keys, key)
		}
	}
	rest, err := json.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("read NATS context %s: %w", path, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(rest))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return nil, fmt.Errorf("read NATS context %s: %s is not supported", path, strings.TrimPrefix(err.Error(), "json: "))
	}
	if c.URL == "" {
		return nil, fmt.Errorf("read NATS context %s: it has no url", path)
	}
	return c, nil
}

// MachineInbox returns the prefix under which a machine gets answers. It is a
// hash, so that no machine's prefix covers another's.
func MachineInbox(machine string) string {
	sum := sha256.Sum256([]byte(machine))
	return "_INBOX_" + hex.EncodeToString(sum[:16])
}

func (c *Context) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

// options returns the options of the library.
func (c *Context) options() (options []nats.Option, err error) {
	add := func(o nats.Option) { options = append(options, o) }
	if c.User != "" {
		add(nats.UserInfo(c.User, c.Password))
	}
	if c.Token != "" {
		add(nats.Token(c.Token))
	}
	if c.Creds != "" {
		add(nats.UserCredentials(c.path(c.Creds)))
	}
	if c.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(c.path(c.NKey))
		if err != nil {
			return nil, fmt.Errorf("read nkey: %w", err)
		}
		add(o)
	}
	if c.UserJWT != "" {
		return nil, errors.New("user_jwt is not supported: use creds")
	}
	if c.Cert != "" {
		add(nats.ClientCert(c.path(c.Cert), c.path(c.Key)))
	}
	if c.CA != "" {
		add(nats.RootCAs(c.path(c.CA)))
	}
	if c.TLSFirst {
		add(nats.TLSHandshakeFirst())
	}
	if c.InboxPrefix != "" {
		add(nats.CustomInboxPrefix(c.InboxPrefix))
	}
	return options, nil
}

// NewKey makes a key for a user and returns its seed and its public part.
func NewKey() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	if public, err = pair.PublicKey(); err == nil {
		seed, err = pair.Seed()
	}
	return seed, public, err
}

// PublicKey returns the public part of a seed.
func PublicKey(seed []byte) (string, error) {
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return "", err
	}
	return pair.PublicKey()
}

// IsPublicKey reports whether a text is the public key of a user.
func IsPublicKey(text string) bool { return nkeys.IsValidPublicUserKey(text) }

// Options say how to connect.
type Options struct {
	Name string // shown by the server
	Keep bool   // connect again for ever, also when the first attempt fails
	Warn func(err error)
}

// connectLimit bounds how long connecting takes.
const connectLimit = 3 * time.Second

// Connect connects to the server of a context, for a fleet.
func Connect(c *Context, fleet string, o Options) (*Conn, error) {
	options, err := c.options()
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	options = append(options, nats.Name(o.Name), nats.Timeout(connectLimit),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if o.Warn != nil {
				o.Warn(err)
			}
		}))
	if o.Keep {
		options = append(options, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
			nats.ReconnectWait(2*time.Second), nats.ReconnectJitter(5*time.Second, 5*time.Second))
	} else {
		options = append(options, nats.NoReconnect())
	}
	nc, err := nats.Connect(c.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", c.URL, err)
	}
	conn := &Conn{nc: nc, Fleet: fleet, api: "$JS.API", domain: c.Domain}
	if c.Domain != "" {
		conn.api = "$JS." + c.Domain + ".API"
	}
	return conn, nil
}
