// Package complete answers the completion scripts of bash, zsh and fish. It reads
// an unfinished command line against a kong model and asks a table of sources for
// the values that may follow. It knows no command of settle and loads no manifest.
package complete

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/render"
)

// Command is the first word of every request. It is no command of the grammar,
// because half a command line follows it, which kong would refuse.
const Command = "__complete"

// Completer answers requests for one program.
type Completer struct {
	Root       *kong.Node
	Sources    map[string]Source // by the name that SourceName returns
	Extensions []string          // of the files that KindManifests prefers, such as .yaml
}

// Source returns the values that may stand at the cursor. text is the part of
// the value that is typed already.
type Source func(cl *CommandLine, text string) Answer

// Answer lists the values that may stand at the cursor.
type Answer struct {
	Kind   Kind
	Prefix string // the beginning of the word that comes before every offer: "--only=", "web,"
	Offers []Offer
}

// Offer is one value and its description.
type Offer struct{ Value, About string }

// Kind says which values a place takes. The shells complete all kinds of paths
// themselves, apart from bash.
type Kind string

// The kinds, as the scripts spell them.
const (
	KindWords       Kind = "words"
	KindFiles       Kind = "files"
	KindManifests   Kind = "manifests" // files, manifests first
	KindDirectories Kind = "directories"
)

// request is an unfinished command line, without the program itself.
type request struct {
	before []string // the words before the one at the cursor
	word   string   // the part of the word at the cursor that stands before it
	after  []string // the words behind it
}

// Reply answers one request of a script. The requests are
//
//	bash TEXT BEFORE AFTER      the line before and behind the cursor; bash replaces TEXT
//	zsh|fish N WORD WORDS…      the words of the line; the Nth is at the cursor, and is WORD up to there
//
// The reply for bash is one replacement of TEXT a line. For the others it is a line
// with the kind and the prefix, then one line for each offer. A request that makes
// no sense has an empty reply: a message would end up in the user's line.
func (c *Completer) Reply(args []string) []byte {
	switch {
	case len(args) == 4 && args[0] == "bash":
		return c.replyToBash(args[1], args[2], args[3])
	case len(args) > 2 && (args[0] == "zsh" || args[0] == "fish"):
		return c.replyWithWords(args[0], args[1], args[2], args[3:])
	}
	return nil
}

// replyToBash splits the line itself and quotes the offers, because bash does
// neither in the way that its own syntax needs.
func (c *Completer) replyToBash(text, before, after string) []byte {
	line := ParseLine(before)
	cut := 0
	if strings.HasSuffix(before, text) {
		cut = len(text)
	}
	ans := Answer{Kind: KindWords}
	if line.Redirect {
		ans.Kind = KindFiles
	} else if words := skipAssignments(line.Words); len(words) > 0 {
		ans = c.answer(request{words[1:], line.Word, ParseLine("_ " + after + " ").Words[1:]})
	}
	isPath := ans.Kind != KindWords
	if isPath {
		ans.Offers = c.listFiles(strings.TrimPrefix(line.Word, ans.Prefix), ans.Kind)
	}
	var b strings.Builder
	for _, o := range ans.Offers {
		if value := ans.Prefix + o.Value; strings.HasPrefix(value, line.Word) && isPrintable(value) {
			b.WriteString(line.Continue(value, cut, isPath) + "\n")
		}
	}
	return []byte(b.String())
}

// replyWithWords answers zsh and fish, which split the line, choose among the
// offers and quote them.
func (c *Completer) replyWithWords(shell, at, word string, words []string) []byte {
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || n > len(words) {
		return nil
	}
	before := skipAssignments(words[:n])
	if len(before) == 0 {
		return nil
	}
	ans := c.answer(request{before[1:], word, words[min(n+1, len(words)):]})
	var b strings.Builder
	b.WriteString(string(ans.Kind) + "\t" + ans.Prefix + "\n")
	for _, o := range ans.Offers {
		if shell == "fish" { // fish has no prefix: an offer is a whole word
			o.Value = ans.Prefix + o.Value
		}
		if isPrintable(o.Value) {
			b.WriteString(o.Value + "\t" + render.Escape(o.About) + "\n")
		}
	}
	return []byte(b.String())
}

// isPrintable reports whether a value fits on one line of a reply and of a terminal.
func isPrintable(value string) bool { return value != "" && render.Escape(value) == value }

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// skipAssignments returns the words from the program on: A=b settle apply.
func skipAssignments(words []string) []string {
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	return words
}
