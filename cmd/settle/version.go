package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

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

func (c *versionCommand) run(a *app) []ending {
	b := build{Version: version, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			}
		}
	}
	if c.JSON {
		a.print(render.Document(b))
		return nil
	}
	line := "settle " + b.Version
	if b.Commit != "" {
		line += fmt.Sprintf(" (commit %.12s of %s)", b.Commit, b.Date)
	}
	a.print([]byte(line + "\n"))
	return nil
}
