package main

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
	"github.com/settle-cm/settle/cmd/internal/source"
)

// A part of the grammar has to mean what the whole means, or nothing.
func TestAPartOfTheGrammarMeansTheSame(t *testing.T) {
	for _, line := range []string{
		"apply", "apply site.yaml -o json", "-v apply --parallel 2 a.yaml b.yaml", "--color never plan --no-guards -", "plan apply.yaml",
		"plan apply", "apply plan", "version --json", "list -o json settle.yaml", "graph -o mermaid", "show last list", "helper run --helper x --input y",
		"helper test --helper ./h dir", "explain exec.command", "pause --for 2h", "forget exec#a", "apply -- plan", "-q validate history",
		"", "--help", "apply --help", "help", "aply", "plan --nope", "apply -o yaml", "--color", "--color apply", "show", "apply --parallel 0",
	} {
		args := strings.Fields(line)
		var said, wants strings.Builder
		g, ctx, err := parseArgs(args, &said)
		whole := &grammar{}
		want, wantErr := parseInto(whole, args, &wants)
		wantErr = cmdline.Explain(wantErr, source.Extensions)
		switch {
		case (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error():
			t.Errorf("%q: %v, want %v", line, err, wantErr)
		case said.String() != wants.String():
			t.Errorf("%q says %q, want %q", line, said.String(), wants.String())
		case err != nil:
		case g.General != whole.General:
			t.Errorf("%q: the flags of all commands are not the same", line)
		default:
			got := ctx.Selected()
			if got.Path() != want.Selected().Path() || !reflect.DeepEqual(got.Target.Interface(), want.Selected().Target.Interface()) {
				t.Errorf("%q is %s %+v", line, got.Path(), got.Target.Interface())
			}
			if _, ok := got.Target.Addr().Interface().(command); !ok {
				t.Errorf("%q selects what is no command: %s", line, got.Path())
			}
		}
	}
}

// What is wrong with a command line is said by all that there is.
func TestSuggestionsKnowAllCommands(t *testing.T) {
	if _, _, err := parseArgs([]string{"aply"}, io.Discard); err == nil || !strings.Contains(err.Error(), "apply") {
		t.Errorf("no suggestion: %v", err)
	}
}
