//go:build unix

package docs

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/cmd/internal/settletest"
)

// A picture shows the console block it stands for. TestPages compares the block
// with a real run, so the picture cannot show anything else than what happens.
func TestPicturesShowTheirBlocks(t *testing.T) {
	drawn := 0
	for name, text := range pages(t) {
		blocks, err := parsePage(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range blocks {
			file, ok := blocks[i].mark("picture")
			if !ok {
				continue
			}
			drawn++
			want := drawTerminal(blocks[i].text)
			if *settletest.Update {
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s is not the picture of %s (run the test twice with -update): -want +got\n%s", file, name, diff)
			}
		}
	}
	if drawn == 0 {
		t.Error("no page has a picture")
	}
}

const (
	columnWidth = 8.4 // of a character, in pixels
	lineHeight  = 19
	margin      = 16
)

// colours gives a line of output the colour that settle gives it on a terminal.
var colours = []struct{ prefix, colour string }{
	{"$ ", "#ffffff"}, {"+ ", "#7ee787"}, {"    +", "#7ee787"}, {"~ ", "#e3b341"}, {"! ", "#ff7b72"}, {"↻ ", "#79c0ff"},
	{"? ", "#d2a8ff"}, {"· ", "#8b949e"}, {"    ", "#8b949e"},
}

// drawTerminal returns an SVG of a terminal that shows the text of a console block.
func drawTerminal(text string) []byte {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	columns := 0
	for i, line := range lines {
		if strings.HasPrefix(line, "$ ") { // the comment is for the test
			lines[i], _, _ = strings.Cut(line, "   # exit")
		}
		columns = max(columns, utf8.RuneCountInString(lines[i]))
	}
	width, height := int(float64(columns)*columnWidth)+2*margin, len(lines)*lineHeight+2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", width, height, width, height)
	b.WriteString("<title>settle in a terminal</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n")
	b.WriteString("<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" fill=\"#c9d1d9\" xml:space=\"preserve\">\n")
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\"%s>", margin, margin+(i+1)*lineHeight-5, fill(line))
		_ = xml.EscapeText(&b, []byte(strings.ReplaceAll(line, " ", "\u00a0"))) // spaces in a row would be joined; a bytes.Buffer takes every write
		b.WriteString("</text>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

func fill(line string) string {
	for _, c := range colours {
		if strings.HasPrefix(line, c.prefix) {
			return fmt.Sprintf(" fill=%q", c.colour)
		}
	}
	return ""
}
