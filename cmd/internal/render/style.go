package render

import (
	"strings"

	"github.com/settle-cm/settle/model"
)

// style is how a status is shown: a symbol, as in the text report, a tone, which
// is a colour and a shape, and its words. Shape and symbol make sure that nothing
// depends on seeing colours.
type style struct {
	Marker string // one character
	Tone   string // a class in report.css and graph.css
	Word   string
}

// tones maps a symbol to its tone. Each tone is a class in the style sheets and a
// shape in outlinePath.
var tones = map[string]string{"+": "run", "~": "fresh", "?": "may", "!": "bad", "-": "off", "=": "still"}

// symbolColors maps a symbol to its colour in the text report.
var symbolColors = map[string]string{"+": green, "~": cyan, "?": yellow, "!": red, "-": yellow, "=": faint}

// unknownStyle is the style of a resource whose status is not known.
var unknownStyle = style{Tone: "plain"}

func styleOf(o *model.ResourceReport) style {
	m := symbol(o)
	s := style{Marker: m, Tone: tones[m], Word: statusText(o.Status)}
	if o.Ignored {
		s.Tone, s.Word = "may", s.Word+", ignored"
	}
	return s
}

// statusStyle is the style of a status as such, for counts of it.
func statusStyle(s model.Status) style { return styleOf(&model.ResourceReport{Status: s}) }

// symbol returns the character that stands for what happened to a resource.
func symbol(o *model.ResourceReport) string {
	switch o.Status {
	case model.WouldRun:
		return "+"
	case model.WouldRefresh:
		return "~"
	case model.MayRun:
		return "?"
	case model.Failed, model.Interrupted:
		return "!"
	case model.Stable:
		if strings.HasPrefix(o.Reason, "skipped (") { // its condition excludes this machine
			return "-"
		}
		return "="
	case model.Changed:
		if isRefreshed(o) {
			return "~"
		}
		return "+"
	}
	return "-"
}
