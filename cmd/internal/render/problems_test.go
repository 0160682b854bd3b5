package render

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

func TestProblemTextShowsTheExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 5)
	for _, tt := range []struct {
		name string
		x    model.Excerpt
		want string
	}{
		{"none", model.Excerpt{}, ""},
		{"in the middle", model.Excerpt{Before: "  a: ", From: "b"}, "\n  12 |   a: b\n     |      ^"},
		{"at the beginning", model.Excerpt{From: "b"}, "\n  12 | b\n     | ^"},
		{"behind the end", model.Excerpt{Before: "b"}, "\n  12 | b\n     |  ^"},
		{"blanks at the end", model.Excerpt{Before: "  ", From: "b  "}, "\n  12 |   b\n     |   ^"},
		{"long lines", model.Excerpt{Before: long, From: long}, "\n  12 | …" + long[11:] + long[:29] + "…\n     | " + strings.Repeat(" ", 40) + "^"},
		{"letters of several bytes", model.Excerpt{Before: "é: ", From: "ü"}, "\n  12 | é: ü\n     |    ^"},
		{"what a terminal would take for its own", model.Excerpt{Before: "\t", From: "\x1b[1m"}, "\n  12 | \\t\\x1b[1m\n     |   ^"},
	} {
		p := model.Problem{Pos: model.Pos{File: "m.yaml", Line: 12, Column: 3}, Message: "no", Excerpt: tt.x}
		if got, want := ProblemText(p, Options{Excerpts: true}), "m.yaml:12:3: no"+tt.want; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want)
		}
		if got := ProblemText(p, Options{}); got != "m.yaml:12:3: no" {
			t.Errorf("%s: nobody watches, and is shown\n%s", tt.name, got)
		}
	}
}
