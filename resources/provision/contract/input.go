package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Input is the document that a helper reads. Its fields are the contract: their
// order, their names, and null for a feature that is off.
type Input struct {
	Identity  string          `json:"identity"`
	CSR       *CSR            `json:"csr"`
	Ed25519   *Ed25519        `json:"ed25519_pubkey"`
	Inventory string          `json:"inventory"` // JSON in a string
	JWT       json.RawMessage `json:"jwt"`       // the claims of provisioning.jwt; nil: null
}

// CSR is a request for a certificate, with the public part of its key.
type CSR struct {
	CSR       string `json:"csr"`
	PublicKey string `json:"public_key"`
	SSLDir    string `json:"ssldir"`
}

// Ed25519 is the server's key for an organization with an issuer.
type Ed25519 struct {
	PublicKey string `json:"public_key"` // hex
	Directory string `json:"directory"`
	Signature string `json:"signature"` // hex, over a nonce
}

// Encode returns the exact bytes that a helper gets.
func (in *Input) Encode() ([]byte, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode the input of the helper: %w", err)
	}
	return data, nil
}

// ParseInput reads an input back, for tools; numbers stay as they are written.
func ParseInput(data []byte) (*Input, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var in Input
	var wrong *json.UnmarshalTypeError
	switch err := d.Decode(&in); {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("read input: %s must not be %s", cmp.Or(wrong.Field, "it"), withArticle(wrong.Value))
	case errors.Is(err, io.EOF):
		return nil, errors.New("read input: it is empty")
	case err != nil:
		return nil, fmt.Errorf("read input: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read input: it is more than one JSON object")
	}
	if in.Identity == "" {
		return nil, errors.New("read input: no identity")
	}
	if string(in.JWT) == "null" {
		in.JWT = nil
	}
	return &in, nil
}

// withArticle puts an article in front of what encoding/json calls a value.
func withArticle(value string) string {
	if strings.HasPrefix(value, "a") || strings.HasPrefix(value, "o") {
		return "an " + value
	}
	return "a " + value
}

// Inventory describes a server. Values of facts are JSON, so that no
// number changes on its way.
type Inventory struct {
	Agents         []string                   `json:"agents"`
	Classes        []string                   `json:"classes"`
	Collectives    []string                   `json:"collectives"`
	DataPlugins    []string                   `json:"data_plugins"`
	Facts          map[string]json.RawMessage `json:"facts"`
	Machines       []Machine                  `json:"machines"`
	MainCollective string                     `json:"main_collective"`
	Upgradable     bool                       `json:"upgradable"`
	Version        string                     `json:"version"`
}

// Machine is an autonomous agent on the server.
type Machine struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Version string `json:"version"`
}

// inventoryKeys are the keys of Inventory.
var inventoryKeys = []string{"agents", "classes", "collectives", "data_plugins", "facts", "machines", "main_collective", "upgradable", "version"}

// ParseInventory reads an inventory from JSON. An object that has none of an
// inventory's keys is taken for the facts alone, which is what tools such as
// facter print.
func ParseInventory(data []byte) (*Inventory, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil || keys == nil {
		return nil, errors.New("the inventory is not one JSON object")
	}
	whole := len(keys) == 0
	for _, key := range inventoryKeys {
		_, ok := keys[key]
		whole = whole || ok
	}
	if !whole {
		return &Inventory{Facts: keys}, nil
	}
	for _, key := range sortedKeys(keys) {
		if !slices.Contains(inventoryKeys, key) {
			return nil, fmt.Errorf("%q is not a key of an inventory: put it under facts", key)
		}
	}
	var inv Inventory
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &inv); {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("the inventory has %s in %s", withArticle(wrong.Value), wrong.Field)
	case err != nil:
		return nil, errors.New("the inventory is not one JSON object")
	}
	return &inv, nil
}

// Encode returns the inventory as a helper gets it: nothing in it is null.
func (inv Inventory) Encode() (string, error) {
	for _, list := range []*[]string{&inv.Agents, &inv.Classes, &inv.Collectives, &inv.DataPlugins} {
		if *list == nil {
			*list = []string{}
		}
	}
	if inv.Facts == nil {
		inv.Facts = map[string]json.RawMessage{}
	}
	if inv.Machines == nil {
		inv.Machines = []Machine{}
	}
	data, err := json.Marshal(inv)
	if err != nil {
		return "", fmt.Errorf("encode the inventory: %w", err)
	}
	return string(data), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
