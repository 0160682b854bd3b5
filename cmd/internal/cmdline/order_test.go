package cmdline

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// walkFlags are enough flags of every form to move.
type walkFlags struct {
	Manifests []string `arg:"" optional:""`
	Output    string   `short:"o"`
	Parallel  int
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	var grammar struct {
		Verbose bool      `short:"v"`
		Quiet   bool      `short:"q"`
		Apply   walkFlags `cmd:""`
		Plan    walkFlags `cmd:""`
	}
	node := kong.Must(&grammar, kong.Name("settle")).Model.Node
	for _, row := range []struct{ line, want string }{
		{"apply a.yaml -o json b.yaml", "apply -o json -- a.yaml b.yaml"},
		{"apply a.yaml -v b.yaml --parallel 2 c.yaml", "apply -v --parallel 2 -- a.yaml b.yaml c.yaml"},
		{"-v apply a.yaml --parallel=2", "-v apply --parallel=2 -- a.yaml"},
		{"apply -ojson - -q", "apply -ojson -q -- -"},
		{"apply -vo json a.yaml", "apply -vo json -- a.yaml"},
		{"apply a.yaml -ovq", "apply -ovq -- a.yaml"},
		{"apply a.yaml -- -v", "apply -- a.yaml -v"},
		{"plan plan", "plan -- plan"},
		{"apply", "apply"},
		{"apply -o", "apply -o"},
		{"apply a.yaml -o", "apply a.yaml -o"},
		{"apply --no-such a.yaml", "apply --no-such -- a.yaml"},
		{"aply a.yaml -v", "aply a.yaml -v"},
		{"", ""},
	} {
		if got := strings.Join(MoveFlagsForward(node, strings.Fields(row.line)), " "); got != row.want {
			t.Errorf("%q becomes %q, want %q", row.line, got, row.want)
		}
	}
}
