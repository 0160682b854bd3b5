package eval

import "github.com/settle-cm/settle/manifests/parse"

// Inputs are the values that a manifest is given from outside.
type Inputs struct {
	Environ   []string                          // of settle, KEY=VALUE; SETTLE_VAR_NAME gives a variable its value
	VarFiles  []ValueFile                       // --var-file, over the environment; of two the later wins
	Vars      []Given                           // --var, over VarFiles; of two with one name the later wins
	Facts     []Given                           // --fact, over FactFiles
	FactFiles []ValueFile                       // --facts-file, over Host
	Host      func() (map[string]any, error)    // facts of this machine; called once, when first needed
	Elsewhere func(variable string) bool        // reports that another manifest, given the same values, declares a variable
	Peek      func(path string) []byte          // returns the beginning of a regular file, nil for anything else; may be nil
	ReadFile  func(path string) ([]byte, error) // reads a file that the manifest names, by its absolute path; may be nil
}

// Source is one file of a manifest with the directory that relative paths in it are
// relative to.
type Source struct {
	*parse.File
	Dir string // absolute
}

// Given is a value from the command line, K=V.
type Given struct{ Key, Text string }

// ValueFile is a file of values, YAML or JSON.
type ValueFile struct {
	Path  string // as the user gave it
	Bytes []byte
}
