//go:build linux || darwin

package proc

import (
	"os"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func sh(text string) model.Command {
	return model.Command{Argv: []string{"/bin/sh", "-c", text}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Grace: 300 * time.Millisecond}
}

func TestExit(t *testing.T) {
	for text, want := range map[string]model.Exit{
		"echo out; echo err >&2": {Began: true, Output: "out\nerr\n"},
		"exit 3":                 {Began: true, Code: 3},
		"kill -9 $$":             {Began: true, Signal: "SIGKILL"},
	} {
		got, err := Run(t.Context(), sh(text))
		if err != nil || got.String() != want.String() || got.Output != want.Output {
			t.Errorf("%s: %v %q %v", text, got, got.Output, err)
		}
	}
}
