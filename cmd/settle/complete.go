package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/typed"
)

// completeWord is the first word by which the scripts of settle completion ask
// what may stand where somebody is typing. It is none of the grammar's commands:
// what follows it is half a command line, which no grammar takes. It asks as
//
//	__complete bash TEXT BEFORE AFTER      the line before and behind the cursor, and what of it bash replaces
//	__complete zsh|fish N WORD WORDS…      the words of the line; the Nth, at the cursor, is WORD up to there
//
// and is answered for bash with what replaces TEXT, a line each, and for the others
// with a line that says what may stand there, how, and then a line for each offer.
const completeWord = "__complete"

// request is a command line that is being typed.
type request struct {
	before []string // the words before the cursor, without the program
	word   string   // what stands before the cursor of the word there
	after  []string // the words behind it
}

// answer is what may stand at the cursor.
type answer struct {
	kind   kind
	done   string // what the word begins with before any offer does: "--only=", "web,"
	offers []offer
}

// offer is one thing that may stand at the cursor, and what it is.
type offer struct{ value, about string }

// kind is what sort of thing may stand somewhere.
type kind string

// The kinds. Of all but words the shells know best themselves.
const (
	someWords       kind = "words"
	someFiles       kind = "files"
	someManifests   kind = "manifests" // files, *.yaml first
	someDirectories kind = "directories"
)

// complete answers the script of a shell. There is nobody to complain to: what
// is wrong with a question is answered with nothing.
func (a *app) complete(args []string) []ending {
	switch {
	case len(args) == 4 && args[0] == "bash":
		a.print(a.forBash(args[1], args[2], args[3]))
	case len(args) > 2 && (args[0] == "zsh" || args[0] == "fish"):
		a.print(a.forWords(args[0], args[1], args[2], args[3:]))
	}
	return nil
}

func (a *app) forBash(text, before, after string) []byte {
	line := typed.Read(before)
	cut := 0
	if strings.HasSuffix(before, text) {
		cut = len(text)
	}
	ans := answer{kind: someWords}
	if line.Target {
		ans.kind = someFiles
	} else if words := program(line.Words); len(words) > 0 {
		ans = a.answer(request{words[1:], line.Word, typed.Read("_ " + after + " ").Words[1:]})
	}
	isPath := ans.kind != someWords
	if isPath {
		ans.offers = files(strings.TrimPrefix(line.Word, ans.done), ans.kind)
	}
	var b strings.Builder
	for _, o := range ans.offers {
		if value := ans.done + o.value; strings.HasPrefix(value, line.Word) && presentable(value) {
			b.WriteString(line.Continue(value, cut, isPath) + "\n")
		}
	}
	return []byte(b.String())
}

// forWords answers shells that say what the words are, choose among the offers
// and quote them.
func (a *app) forWords(shell, at, word string, words []string) []byte {
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || n > len(words) {
		return nil
	}
	before := program(words[:n])
	if len(before) == 0 {
		return nil
	}
	ans := a.answer(request{before[1:], word, words[min(n+1, len(words)):]})
	var b strings.Builder
	b.WriteString(string(ans.kind) + "\t" + ans.done + "\n")
	for _, o := range ans.offers {
		if shell == "fish" { // knows no word that begins with something else
			o.value = ans.done + o.value
		}
		if presentable(o.value) {
			b.WriteString(o.value + "\t" + render.Escape(o.about) + "\n")
		}
	}
	return []byte(b.String())
}

// presentable says whether a value fits into a line of an answer, and into one
// of a terminal.
func presentable(value string) bool { return value != "" && render.Escape(value) == value }

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// program returns the words from the one on that is the program.
func program(words []string) []string {
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	return words
}

// survey is what the words of a command line are, as far as they go.
type survey struct {
	node     *kong.Node
	operands []string
	given    map[string][]string // what stands behind the flags, by their long names
	pending  *kong.Flag          // the next word is its value
	ended    bool                // by --
}

// read takes one more word.
func (s *survey) read(word string) {
	long, value, isLong := s.long(word)
	switch {
	case s.pending != nil:
		s.given[s.pending.Name] = append(s.given[s.pending.Name], word)
		s.pending = nil
	case s.ended:
		s.operands = append(s.operands, word)
	case word == "--":
		s.ended = true
	case isLong:
		s.given[long] = append(s.given[long], value)
	case len(word) > 1 && word[0] == '-':
		s.pending = awaiting(s.node, word)
		if flag := longFlag(s.node, word); flag != nil && flag.IsBool() {
			s.given[flag.Name] = append(s.given[flag.Name], "")
		}
	case len(s.operands) == 0 && child(s.node, word) != nil:
		s.node = child(s.node, word)
	default:
		s.operands = append(s.operands, word)
	}
}

// long splits a word such as --only=exec#a.
func (s *survey) long(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	ok = ok && !s.ended && longFlag(s.node, name) != nil
	return strings.TrimPrefix(name, "--"), value, ok
}

// answer says what may stand at the cursor.
func (a *app) answer(r request) answer {
	helped := len(r.before) > 0 && r.before[0] == "help"
	if helped {
		r.before = r.before[1:]
	}
	root := kong.Must(&grammar{}, kong.Name("settle")).Model.Node
	at := survey{node: root, given: map[string][]string{}}
	for _, word := range r.before {
		at.read(word)
	}
	whole := survey{node: root, given: map[string][]string{}} // the manifest may be named behind the cursor
	for _, word := range slices.Concat(r.before, []string{r.word}, r.after) {
		whole.read(word)
	}
	c := completer{app: a, line: &whole}
	name, value, isLong := at.long(r.word)
	switch {
	case at.pending != nil:
		return c.value(at.pending, r.word, "")
	case isLong:
		return c.value(longFlag(at.node, "--"+name), value, "--"+name+"=")
	case !at.ended && strings.HasPrefix(r.word, "-"):
		return flags(&at)
	case len(at.node.Children) > 0:
		return commands(at.node)
	case helped:
		return answer{kind: someWords}
	}
	return c.operand(&at, r.word)
}

// commands are those that may follow a command, or settle itself.
func commands(node *kong.Node) answer {
	ans := answer{kind: someWords}
	for _, c := range node.Children {
		ans.offers = append(ans.offers, offer{c.Name, c.Help})
	}
	return ans
}

// flags are those that a command takes, less those that were given and are of no
// use twice.
func flags(at *survey) answer {
	ans := answer{kind: someWords}
	for _, group := range at.node.AllFlags(true) {
		for _, flag := range group {
			if at.given[flag.Name] == nil || flag.IsCumulative() {
				ans.offers = append(ans.offers, offer{"--" + flag.Name, flag.Help})
			}
		}
	}
	return ans
}
