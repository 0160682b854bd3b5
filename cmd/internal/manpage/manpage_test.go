package manpage

import "testing"

func TestEscapedTextPrintsUnchanged(t *testing.T) {
	for text, want := range map[string]string{
		"--only":       `\-\-only`,
		".SH x":        `\&.SH x`,
		"'x' `y` ^~":   `\(aqx\(aq \(gay\(ga \(ha\(ti`,
		`back\slash`:   `back\eslash`,
		"more…":        `more\[u2026]`,
		"a\n.b\n'c\nd": "a\n\\&.b\n\\(aqc\nd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
