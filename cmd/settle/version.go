package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
)

// version is what this is; a release sets it with -ldflags "-X main.version=…".
var version = "0.1.0"

// build is what `settle version --json` says.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Go      string `json:"go"`
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print a JSON document with version, commit, date and Go version."`
}

// Help is shown by settle version --help.
func (*versionCommand) Help() string {
	return `Example:

    settle version --json`
}

func (c *versionCommand) run(a *app) []exit.Ending {
	b := buildInfo()
	if c.JSON {
		a.print(render.Document(b))
		return nil
	}
	a.print([]byte(b.String() + "\n"))
	return nil
}

// String is what settle version says.
func (b build) String() string {
	line := "settle " + b.Version
	if b.Commit == "" {
		return line + " (of no known commit)"
	}
	commit, modified := strings.CutSuffix(b.Commit, modifiedMark)
	line += fmt.Sprintf(" (commit %.12s of %s", commit, b.Date)
	if modified {
		line += ", modified"
	}
	return line + ")"
}

// modifiedMark is behind the commit of a program that was built with changes that
// are in no commit.
const modifiedMark = "-modified"

// buildInfo is what the toolchain wrote into this program: of a build in a git
// checkout the commit, of one of a module from a proxy what its version says,
// of one of a bare tree nothing.
func buildInfo() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return readBuild(info)
}

func readBuild(info *debug.BuildInfo) build {
	b := build{Version: version, Go: runtime.Version()}
	modified := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = modifiedMark
			}
		}
	}
	if b.Commit == "" {
		b.Commit, b.Date = parsePseudoVersion(info.Main.Version)
	}
	if b.Commit != "" {
		b.Commit += modified
	}
	return b
}

var pseudo = regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})$`)

// parsePseudoVersion returns the commit and the time that a version between two releases
// is made of, e.g. v0.1.1-0.20260102030405-0123456789ab.
func parsePseudoVersion(version string) (commit, date string) {
	m := pseudo.FindStringSubmatch(version)
	if m == nil {
		return "", ""
	}
	t, err := time.Parse("20060102150405", m[1])
	if err != nil {
		return "", ""
	}
	return m[2], t.Format(time.RFC3339)
}
