package manifests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// item is one of a for_each: what ${each.key} and ${each.value} lead to.
type item struct {
	key     any // an int in a list, a text in a map
	value   any
	unknown bool // the for_each is wrong, which was said; what else is wrong is said too
}

// lookup returns what an expression leads to, or its default. It returns false
// after saying why it leads to nothing.
func (s scope) lookup(n *yaml.Node, e *value.Expr) (any, bool) {
	v, known := s.root(n, e)
	if !known {
		return nil, false
	}
	if e.HasDefault && (v == nil || v == "") {
		return e.Default, true
	}
	if v == nil {
		s.missing(n, e)
		return nil, false
	}
	return v, true
}

// root goes from an expression's root as far as its path leads: to nil when that
// is nowhere. It returns false after saying that the path cannot be meant.
func (s scope) root(n *yaml.Node, e *value.Expr) (any, bool) {
	switch e.Root {
	case "var":
		v := s.variable(n, e)
		if v == nil {
			return nil, false
		}
		found, ok := s.l.find(v)
		return at(found, e.Path[1:]), ok
	case "env":
		text, ok := s.l.getenv(strings.Join(e.Path, "."))
		if !ok {
			return nil, true
		}
		return text, true
	case "host":
		return s.host(n, e)
	case "self":
		return s.ofSelf(n, e)
	}
	return s.ofItem(n, e)
}

// at returns what a path leads to in a value, nil for nothing.
func at(v any, path []string) any {
	if v == nil {
		return nil
	}
	found, steps := value.At(v, path)
	if steps < len(path) {
		return nil
	}
	return found
}

// variable returns the variable that an expression names, nil after saying that
// there is none.
func (s scope) variable(n *yaml.Node, e *value.Expr) *variable {
	v := s.l.vars[e.Path[0]]
	if v == nil {
		suggestion := fmt.Sprintf("declare it: vars: {%s: …}", e.Path[0])
		if s.l.base.CCM {
			suggestion = "a CCM manifest has none: take ccm: away, and declare it under vars"
		}
		if meant := spelling.Suggest(e.Path[0], s.l.varNames); meant != "" {
			suggestion = fmt.Sprintf("did you mean \"%s\"?", instead(e, meant))
		}
		if s.l.partial { // where it may be declared
			return nil
		}
		s.refuse(s.l.pos(n), fmt.Sprintf("%s: no variable %q is declared", e.Text, e.Path[0]), suggestion)
	}
	return v
}

// instead writes an expression with another first name.
func instead(e *value.Expr, name string) string {
	return "${" + strings.Join(append([]string{e.Root, name}, e.Path[1:]...), ".") + "}"
}

// missing says that a path leads to nothing, and where it was left.
func (s scope) missing(n *yaml.Node, e *value.Expr) {
	way := fmt.Sprintf("write %s:-TEXT} for a default", strings.TrimSuffix(e.Text, "}"))
	message := e.Text + ": there is no such value"
	switch e.Root {
	case "env":
		message = fmt.Sprintf("%s: the environment has no %s", e.Text, strings.Join(e.Path, "."))
	case "var", "each", "host":
		whole := s.led(e)
		found, steps := value.At(whole, e.Path[1:])
		written := "${" + strings.Join(append([]string{e.Root}, e.Path[:1+steps]...), ".") + "}"
		switch found := found.(type) {
		case nil:
			message = fmt.Sprintf("%s: the variable %s has no value", e.Text, e.Path[0])
			way = fmt.Sprintf("give it with --var %s=…, or %s", e.Path[0], way)
			if e.Root == "host" {
				message, way = e.Text+": this machine does not say", "give it with --fact "+e.Path[0]+"=…"
			}
		case value.Map:
			message = fmt.Sprintf("%s: %s has no %q", e.Text, written, e.Path[1+steps])
			if meant := spelling.Suggest(e.Path[1+steps], found.Keys()); meant != "" {
				way = entry.DidYouMean(meant)
			}
		case []any:
			message = fmt.Sprintf("%s: %s has no item %q", e.Text, written, e.Path[1+steps])
			if len(found) > 0 {
				way = fmt.Sprintf("its items are 0 to %d; %s", len(found)-1, way)
			}
		default:
			message = fmt.Sprintf("%s: %s is %s, which has no parts", e.Text, written, value.Describe(found))
		}
	}
	s.lacks(model.Problem{Pos: s.l.pos(n), ID: s.id, Property: s.property, Message: message, Suggestion: way})
}

// lacks says that there is no value. Of a resource that is kept until it is known
// whether it is for this machine: one for others may name what is only there.
func (s scope) lacks(p model.Problem) {
	if s.l.self == nil {
		s.l.problem(p)
		return
	}
	s.l.lacking = append(s.l.lacking, p)
}

// settle says what a resource lacks, where it is for this machine.
func (l *loader) settle(off bool) {
	for _, p := range l.lacking {
		if !off {
			l.problem(p)
		}
	}
	l.lacking = l.lacking[:0]
}

// led returns what the first name of a path leads to.
func (s scope) led(e *value.Expr) any {
	switch e.Root {
	case "var":
		return s.l.vars[e.Path[0]].value
	case "host":
		v, _ := s.l.facts.all.At(e.Path[0])
		return v
	}
	return s.l.item.value
}

// getenv returns a variable of settle's environment.
func (l *loader) getenv(name string) (string, bool) {
	if l.env == nil {
		l.env, l.told = make(map[string]string, len(l.src.Environ)), map[string]bool{}
		for _, pair := range l.src.Environ {
			if key, text, ok := strings.Cut(pair, "="); ok {
				if _, twice := l.env[key]; !twice { // the first counts, as for a process
					l.env[key] = text
				}
			}
		}
	}
	l.told[name] = true
	text, ok := l.env[name]
	return text, ok
}

// ofSelf leads to what is known of the resource that is read.
func (s scope) ofSelf(n *yaml.Node, e *value.Expr) (any, bool) {
	switch {
	case s.l.self == nil && s.property == "name":
		s.refuse(s.l.pos(n), e.Text+" in the name itself", "write the name")
		return nil, false
	case s.l.self == nil:
		s.refuse(s.l.pos(n), e.Text+" stands outside of a resource", "")
		return nil, false
	case len(e.Path) == 1 && e.Path[0] == "name" && s.l.self.Name == "": // what is wrong with it was said
		return nil, false
	case len(e.Path) == 1 && e.Path[0] == "name":
		return s.l.self.Name, true
	case len(e.Path) == 1 && e.Path[0] == "type":
		return s.l.self.Type, true
	}
	s.refuse(s.l.pos(n), e.Text+": of itself a resource knows name and type", "write ${self.name} or ${self.type}")
	return nil, false
}

// ofItem leads to the item of for_each that a resource is made for.
func (s scope) ofItem(n *yaml.Node, e *value.Expr) (any, bool) {
	switch {
	case s.l.item == nil:
		s.refuse(s.l.pos(n), e.Text+" stands outside of a resource with for_each", "give the resource for_each: with a list or a map")
		return nil, false
	case e.Path[0] == "value":
		return at(s.l.item.value, e.Path[1:]), !s.l.item.unknown
	case len(e.Path) == 1 && e.Path[0] == "key":
		return s.l.item.key, !s.l.item.unknown
	}
	s.refuse(s.l.pos(n), e.Text+": an item of for_each has key and value", "write ${each.key} or ${each.value}")
	return nil, false
}

// facts are what is known of the machine.
type facts struct {
	asked bool
	wrong bool      // which was said
	given value.Map // from outside, over those of the machine
	all   value.Map
}

// factNames are the facts that there are on every machine, with their types.
var factNames = []string{"os", "family", "distribution", "version", "arch", "hostname", "fqdn", "kernel", "cpus", "memory_mb", "virtualization", "interfaces"}

// countedFacts are those that are numbers.
var countedFacts = []string{"cpus", "memory_mb", "mtu"}

// host leads to a fact of the machine.
func (s scope) host(n *yaml.Node, e *value.Expr) (any, bool) {
	if !s.fact(n, e) || !s.gather(s.l.pos(n)) {
		return nil, false
	}
	return at(s.l.facts.all, e.Path), true
}

// fact says whether an expression names a fact, or says that there is none.
func (s scope) fact(n *yaml.Node, e *value.Expr) bool {
	if slices.Contains(factNames, e.Path[0]) {
		return true
	}
	suggestion := "settle knows " + strings.Join(factNames, ", ")
	if meant := spelling.Suggest(e.Path[0], factNames); meant != "" {
		suggestion = fmt.Sprintf("did you mean \"%s\"?", instead(e, meant))
	}
	s.refuse(s.l.pos(n), fmt.Sprintf("%s: no fact is called %q", e.Text, e.Path[0]), suggestion)
	return false
}

// gather asks for the facts of the machine, once, and puts over them what was
// given from outside.
func (s scope) gather(pos model.Pos) bool {
	l := s.l
	if l.facts.asked {
		return !l.facts.wrong
	}
	l.facts.asked = true
	if l.src.Host != nil {
		host, err := l.src.Host()
		if err != nil {
			l.facts.wrong = true
			s.refuse(pos, "find out the facts of this machine: "+err.Error(), "give those that are needed with --fact NAME=VALUE")
			return false
		}
		l.facts.all, _ = value.Of(host).(value.Map)
	}
	l.facts.all = l.facts.all.Over(l.facts.given)
	return true
}

// giveFacts takes over the facts that are given from outside.
func (l *loader) giveFacts() {
	given := value.Map{}
	for _, f := range l.src.FactFiles {
		for key, n := range l.valueFile(f) {
			pos := model.Pos{File: f.Path, Line: key.Line, Column: key.Column}
			if !l.isFact(key.Value, pos) {
				continue
			}
			if v, ok := l.data(f.Path, n); ok {
				given = given.Over(value.Map{{Key: key.Value, Value: v}})
			}
		}
	}
	for _, g := range l.src.Facts {
		path := strings.Split(g.Key, ".")
		pos := model.Pos{File: "--fact"}
		if !l.isFact(path[0], pos) {
			continue
		}
		var v any = g.Text
		if slices.Contains(countedFacts, path[len(path)-1]) {
			number, err := strconv.Atoi(g.Text)
			if err != nil {
				l.problem(model.Problem{Pos: pos, Message: fmt.Sprintf("%s: want a number, got %q", g.Key, g.Text)})
				continue
			}
			v = number
		}
		given = given.With(path, v)
	}
	l.facts.given = given
}

// isFact says whether there is a fact of a name, or says that there is none.
func (l *loader) isFact(name string, pos model.Pos) bool {
	if slices.Contains(factNames, name) {
		return true
	}
	suggestion := "what is no fact of the machine is a variable: --var"
	if meant := spelling.Suggest(name, factNames); meant != "" {
		suggestion = entry.DidYouMean(meant)
	}
	l.problem(model.Problem{Pos: pos, Message: fmt.Sprintf("no fact is called %q", name), Suggestion: suggestion})
	return false
}
