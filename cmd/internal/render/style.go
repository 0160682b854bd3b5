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

// The symbols of the reports for people.
const (
	createSymbol  = "+"
	changeSymbol  = "~"
	removeSymbol  = "-"
	refreshSymbol = "↻"
	maySymbol     = "?"
	failedSymbol  = "!"
	skippedSymbol = "·"
	stableSymbol  = "="
)

// asciiSymbols replace the symbols that are not ASCII where a terminal cannot
// show them.
var asciiSymbols = map[string]string{refreshSymbol: "r", skippedSymbol: "."}

// legend explains the symbols in the order in which a plan counts them.
var legend = []struct{ symbol, text string }{
	{createSymbol, "create"}, {changeSymbol, "change or run"}, {removeSymbol, "remove"}, {refreshSymbol, "refresh"},
	{maySymbol, "may run"}, {failedSymbol, "failed"}, {skippedSymbol, "skipped"}, {stableSymbol, "changes nothing"},
}

// tones maps a symbol to its tone. Each tone is a class in the style sheets and a
// shape in outlinePath.
var tones = map[string]string{
	createSymbol: "run", changeSymbol: "change", removeSymbol: "remove", refreshSymbol: "fresh",
	maySymbol: "may", failedSymbol: "bad", skippedSymbol: "off", stableSymbol: "still",
}

// symbolColors maps a symbol to its colour in the text report.
var symbolColors = map[string]string{
	createSymbol: green, changeSymbol: yellow, removeSymbol: red, refreshSymbol: cyan,
	maySymbol: magenta, failedSymbol: red, skippedSymbol: faint, stableSymbol: faint,
}

// unknownStyle is the style of a resource whose status is not known.
var unknownStyle = style{Tone: "plain"}

func styleOf(o *model.ResourceReport) style {
	m := symbol(o)
	s := style{Marker: m, Tone: tones[m], Word: resultText(o)}
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
	case model.WouldRefresh:
		return refreshSymbol
	case model.MayRun:
		return maySymbol
	case model.Failed, model.Interrupted:
		return failedSymbol
	case model.Stable:
		if isExcluded(o) {
			return skippedSymbol
		}
		return stableSymbol
	case model.WouldRun, model.Changed:
		if o.Status == model.Changed && isRefreshed(o) {
			return refreshSymbol
		}
		return actionSymbol(o.Action)
	}
	return skippedSymbol
}

func actionSymbol(a model.Action) string {
	switch a {
	case model.ActionCreate:
		return createSymbol
	case model.ActionRemove:
		return removeSymbol
	case model.ActionCheck: // it changes nothing
		return stableSymbol
	}
	return changeSymbol
}

// isExcluded reports whether the condition of a resource excludes this machine.
func isExcluded(o *model.ResourceReport) bool {
	return o.Status == model.Stable && strings.HasPrefix(o.Reason, "skipped (")
}

// resultText returns the status of a resource as people read it. It names the
// action of a resource that has no command.
func resultText(o *model.ResourceReport) string {
	switch {
	case o.Status == model.WouldRun && o.Action == model.ActionCheck:
		return "would check"
	case o.Command != "" || o.Action == model.NoAction:
	case o.Status == model.WouldRun:
		return "would " + string(o.Action)
	case o.Status == model.Changed && o.Action == model.ActionCreate:
		return "created"
	case o.Status == model.Changed && o.Action == model.ActionRemove:
		return "removed"
	}
	return statusText(o.Status)
}
