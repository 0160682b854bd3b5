// Package packages holds the vocabulary of package managers: installed packages,
// offered versions, requests and the changes that a request leads to. It is pure.
package packages

import (
	"fmt"
	"time"
)

// State says how far a package is installed.
type State int

// The states of a package.
const (
	Missing     State = iota
	ConfigFiles       // removed, its configuration files are still there
	Broken            // unpacked, half-installed or not configured
	Installed
)

// Package is one entry of the package database.
type Package struct {
	Name    string
	Arch    string
	Version string
	State   State
	Detail  string // the reason of Broken, such as "unpacked, not configured"
	Held    bool   // kept from upgrades
}

// Table is the package database, by name. A name has several entries when it is
// installed for several architectures, or in several versions at once.
type Table map[string][]Package

// Offer is what the package index knows of one name.
type Offer struct {
	Candidate string   // the version that an upgrade would take, "" for none
	Versions  []string // all versions, newest first
	Provides  []string // packages that provide a virtual package of this name
}

// Target is a package with the exact version to install.
type Target struct{ Name, Version string }

// Request is one transaction.
type Request struct {
	Install        []Target
	Remove         []string
	Purge          bool // configuration files of Remove go too
	Downgrade      bool // a version may become lower
	Held           bool // a held package may change
	Removals       bool // packages that are not named may be removed
	Recommends     *bool
	NewConfigFiles bool // a changed configuration file is replaced by the package's
	Timeout        time.Duration
	LockTimeout    time.Duration
}

// Change is the effect of a transaction on one package. Old is "" for a new package,
// New is "" for a removed one.
type Change struct{ Name, Old, New string }

// String returns the change as a line of a diff.
func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("+ %s %s", c.Name, c.New)
	case c.New == "":
		return fmt.Sprintf("- %s %s", c.Name, c.Old)
	}
	return fmt.Sprintf("~ %s %s -> %s", c.Name, c.Old, c.New)
}
