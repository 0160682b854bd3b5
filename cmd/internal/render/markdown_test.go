package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

func TestMarkdownIsCutVisibly(t *testing.T) {
	var all []model.ResourceReport
	for i := range 5_000 {
		o := outcome(fmt.Sprintf("exec#n%d", i), i+1, model.Changed, "runs every time")
		if i%10 == 9 {
			o.Status, o.Reason, o.Output = model.Failed, "exit 1", strings.Repeat("ünïcödé ", 2_000)
		}
		all = append(all, o)
	}
	r := report("apply", 1, all)
	doc := string(Markdown([]model.Report{r, r}, Options{}))
	if len(doc) > markdownLimit || len(doc) < markdownLimit*9/10 {
		t.Errorf("%d bytes", len(doc))
	}
	for _, want := range []string{"<!-- settle:web -->", "more parts are not shown", "exec#n9`", "| ✏️ |"} {
		if !strings.Contains(doc, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if open, closed := strings.Count(doc, "<details>"), strings.Count(doc, "</details>"); open == 0 || open != closed {
		t.Errorf("%d parts are opened, %d closed", open, closed)
	}
	if strings.Count(doc, "\n```")%2 != 0 {
		t.Error("a fence is left open")
	}
}

func TestMarkdownFoldsStableResources(t *testing.T) {
	doc, folded, ok := strings.Cut(string(Markdown([]model.Report{applyReport()}, Options{})), "<details><summary>1 unchanged</summary>")
	if !ok || !strings.Contains(folded, "`exec#done`") {
		t.Errorf("the stable resource is not folded: %s", folded)
	}
	for _, o := range applyReport().Resources {
		if o.Status == model.Stable && strings.Contains(doc, o.ID) {
			t.Errorf("%s is stable", o.ID)
		}
		if o.Status == model.Failed && !strings.Contains(doc, o.ID) {
			t.Errorf("%s is missing", o.ID)
		}
	}
}

// Nothing of a resource may be read as Markdown, as HTML or as a mention.
func TestMarkdownShowsNoForeignMarkup(t *testing.T) {
	marker, doc, _ := strings.Cut(string(Markdown([]model.Report{hostileReport()}, Options{})), "\n")
	if strings.Index(marker, "-->") != len(marker)-len("-->") {
		t.Errorf("the marker was closed by what it holds: %s", marker)
	}
	for _, bad := range []string{"<script", "</script>", "<a>", "</code></details> *b*"} {
		rest := doc
		for {
			at := strings.Index(rest, bad)
			if at < 0 {
				break
			}
			if !inFence(doc[:len(doc)-len(rest)+at]) {
				t.Errorf("%q stands in\n%s", bad, rest[max(0, at-80):at+len(bad)])
			}
			rest = rest[at+len(bad):]
		}
	}
}

// inFence reports whether a text ends inside a block of code.
func inFence(text string) bool {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && ticks == line:
			fence = ""
		}
	}
	return fence != ""
}

func TestCodeEscapesMarkup(t *testing.T) {
	for in, want := range map[string]string{
		"":          "",
		"a b":       "`a b`",
		"a|b":       "<code>a&#124;b</code>",
		"a`b":       "<code>a&#96;b</code>",
		" a":        "<code> a</code>",
		"@all <b>":  "`@all <b>`",
		"@all `<b>": "<code>&#64;all &#96;&#60;b&#62;</code>",
		"a\nb":      "`a\\nb`",
	} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
}
