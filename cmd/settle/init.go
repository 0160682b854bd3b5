package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

// schemaFile is where editors find the schema of the manifests beside it.
const schemaFile = ".settle.schema.json"

// starter is a first manifest, with %s for its name. It changes only one file beside it.
const starter = `# yaml-language-server: $schema=./` + schemaFile + `

# What this machine should be like. settle plan says what settle apply would do,
# settle validate finds every mistake. settle explain lists what may stand here;
# settle explain exec.creates says what one of it means.

# What is remembered of this manifest is kept under its name: one that no other
# manifest of this machine has.
name: %s

resources:
  # A file is as it is described: what differs is put right, and nothing else.
  - file:
      - greeting:
          path: hello.txt            # beside this manifest
          content: |
            hello from settle

  # A command runs every time, unless something says that it has to or need not:
  # creates, onlyif, unless, or refreshonly, as here: only when what it subscribes
  # to has changed.
  - exec:
      - show:
          command: cat hello.txt
          refreshonly: true
          subscribe: file#greeting
          logoutput: true
      # - unpack:
      #     command: tar -xzf /srv/app.tar.gz
      #     cwd: /opt/app
      #     creates: bin/app          # below cwd; it runs while this is missing
      # - migrate:
      #     command: bin/migrate --all
      #     cwd: /opt/app
      #     unless: bin/migrate --check
      #     require: exec#unpack      # after it, and not if it failed
      #     timeout: 5m
`

type initCommand struct{}

// Help is shown by settle init --help.
func (*initCommand) Help() string {
	return `Creates a commented settle.yaml in this directory, and .settle.schema.json, with which editors complete and check it. Exits 73 when one of them exists already.

Example:

    settle init && settle plan`
}

func (c *initCommand) run(a *app) []exit.Ending {
	made, err := makeStarter(manifests.Schema(resources.Types(resources.World{})))
	if err != nil {
		a.err.PrintError(err.Error())
		return []exit.Ending{{Refused: &exit.Refusal{Code: exit.Unwritten, Err: err}}}
	}
	if !a.Quiet {
		a.print([]byte("made " + strings.Join(made, " and ") + "\nnext: settle plan, settle apply\n"))
	}
	return nil
}

// makeStarter makes a manifest in the working directory, and its schema, unless that
// is there. It returns what it made: all or nothing.
func makeStarter(schema []byte) ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	if _, err := os.Lstat(source.DefaultManifest); err == nil { // a link that leads nowhere is there too
		return nil, refuseExisting(source.DefaultManifest, "is there already: settle plan says what it would do")
	}
	made := []string{source.DefaultManifest, schemaFile}
	if err := createFile(schemaFile, schema); errors.Is(err, fs.ErrExist) {
		if old, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(old, schema) {
			return nil, refuseExisting(schemaFile, `is there already, and another one: "settle schema > `+schemaFile+`" makes it anew`)
		}
		made = made[:1]
	} else if err != nil {
		return nil, err
	}
	if err := createFile(source.DefaultManifest, fmt.Appendf(nil, starter, nameFrom(dir))); err != nil {
		if len(made) > 1 && !errors.Is(err, fs.ErrExist) { // else another init was quicker, and needs it
			_ = os.Remove(schemaFile) // it is ours, and alone it is of no use
		}
		return nil, err
	}
	return made, nil
}

func refuseExisting(file, what string) error {
	return fmt.Errorf("%s %s; nothing was written", file, what)
}

// createFile writes a file that is not there yet, whole or not at all.
func createFile(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = f.Write(text)
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(file) // the error that counts is the one before
		}
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", file, publish.ExplainWriteError(err))
	}
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,63}$`)

// nameFrom makes a name of a directory's, where that is a word.
func nameFrom(dir string) string {
	name := filepath.Base(dir)
	if !plainName.MatchString(name) || strings.EqualFold(name, "null") {
		return "site"
	}
	return name
}
