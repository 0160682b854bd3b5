package render

import "github.com/settle-cm/settle/model"

// look is how a status is drawn: a marker, as in the text report, and a tone,
// which is a colour and a shape, so that nothing depends on seeing colours.
type look struct {
	Marker string // one character
	Tone   string // class in report.css and graph.css
	Word   string
}

// tones names the looks by marker. Each is a class in the style sheets and a
// shape in outline.
var tones = map[string]string{"+": "run", "~": "fresh", "?": "may", "!": "bad", "-": "off", "=": "still"}

// plain is the look of a resource of which no status is known.
var plainLook = look{Tone: "plain"}

func lookOf(o *model.ResourceReport) look {
	m := marker(o)
	l := look{Marker: m, Tone: tones[m], Word: words(o.Status)}
	if o.Ignored {
		l.Tone, l.Word = "may", l.Word+", ignored"
	}
	return l
}

// statusLook is the look of a whole status, for counts of it.
func statusLook(s model.Status) look { return lookOf(&model.ResourceReport{Status: s}) }
