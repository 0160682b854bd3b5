package eval

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// lookup returns the value that an expression leads to, or its default. It returns
// false after reporting why it leads to nothing.
func (e *Env) lookup(f Frame, n *yaml.Node, x *value.Expr, found *Found) (any, bool) {
	if x.Root == ccmRoot {
		return e.lookupCCM(f, n, x, found)
	}
	x, ok := e.resolveKeys(f, n, x, found)
	if !ok {
		return nil, false
	}
	v, ok := e.follow(f, n, x, found)
	if !ok {
		return nil, false
	}
	if x.HasDefault && (v == nil || v == "") {
		return x.Default, true
	}
	if v == nil {
		message, suggestion := e.describeMissing(f, x)
		found.Missing = append(found.Missing, f.Problem(f.File.Pos(n), message, suggestion))
		return nil, false
	}
	return v, true
}

// resolveKeys returns an expression with the values of its keys in its path. A key
// that leads to nothing becomes an empty one, which a default replaces.
func (e *Env) resolveKeys(f Frame, n *yaml.Node, x *value.Expr, found *Found) (*value.Expr, bool) {
	if x.Keys == nil {
		return x, true
	}
	resolved := *x
	resolved.Path = slices.Clone(x.Path)
	for i := range x.Path {
		key := x.Keys[i]
		if key == nil {
			continue
		}
		key, ok := e.resolveKeys(f, n, key, found)
		if !ok {
			return nil, false
		}
		v, ok := e.follow(f, n, key, found)
		if ok && v == nil && !x.HasDefault {
			message, suggestion := e.describeMissing(f, key)
			found.Missing = append(found.Missing, f.Problem(f.File.Pos(n), message, suggestion))
			ok = false
		}
		if !ok {
			return nil, false
		}
		text, isText := value.Text(v)
		if !isText && v != nil {
			e.refuse(f, n, fmt.Sprintf("%s: the key %s is %s", x.Text, x.Path[i], value.Describe(v)), "name a text or a number in the brackets")
			return nil, false
		}
		resolved.Path[i] = text
	}
	return &resolved, true
}

// follow goes along the path of an expression, to nil when the path ends early. It
// returns false after reporting a path that can never lead anywhere.
func (e *Env) follow(f Frame, n *yaml.Node, x *value.Expr, found *Found) (any, bool) {
	switch x.Root {
	case "var":
		v := e.findVariable(f, n, x)
		if v == nil {
			return nil, false
		}
		result, more, ok := e.evaluateVariable(v)
		found.add(more)
		return walk(result, x.Path[1:]), ok
	case "env":
		text, ok := e.environ.get(strings.Join(x.Path, "."))
		if !ok {
			return nil, true
		}
		return text, true
	case "host":
		if !e.checkFactName(f, n, x) || !e.gatherFacts(f, n) {
			return nil, false
		}
		return walk(e.facts.all, x.Path), true
	case "self":
		return e.lookupSelf(f, n, x)
	}
	return e.lookupItem(f, n, x)
}

// findVariable returns the variable that an expression names, nil after reporting
// an undeclared name.
func (e *Env) findVariable(f Frame, n *yaml.Node, x *value.Expr) *variable {
	name := x.Path[0]
	v := e.vars.byName[name]
	if v != nil || e.partial { // a file that could not be read may declare it
		return v
	}
	suggestion := fmt.Sprintf("declare it: vars: {%s: …}", name)
	if e.ccm {
		suggestion = "a CCM manifest has none: take ccm: away, and declare it under vars"
	}
	if meant := spelling.Suggest(name, e.vars.names); meant != "" {
		suggestion = fmt.Sprintf("did you mean \"%s\"?", withName(x, meant))
	}
	e.refuse(f, n, fmt.Sprintf("%s: no variable %q is declared", x.Text, name), suggestion)
	return nil
}

// checkFactName refuses an expression that names a fact which does not exist.
func (e *Env) checkFactName(f Frame, n *yaml.Node, x *value.Expr) bool {
	if slices.Contains(factNames, x.Path[0]) {
		return true
	}
	suggestion := "settle knows " + strings.Join(factNames, ", ")
	if meant := spelling.Suggest(x.Path[0], factNames); meant != "" {
		suggestion = fmt.Sprintf("did you mean \"%s\"?", withName(x, meant))
	}
	e.refuse(f, n, fmt.Sprintf("%s: no fact is called %q", x.Text, x.Path[0]), suggestion)
	return false
}

// gatherFacts gathers the facts of the machine. It reports a failure at the first
// place that needs them.
func (e *Env) gatherFacts(f Frame, n *yaml.Node) bool {
	asked := e.facts.asked
	err := e.facts.gather()
	if err != nil && !asked {
		e.refuse(f, n, "find out the facts of this machine: "+err.Error(), "give those that are needed with --fact NAME=VALUE")
	}
	return err == nil
}

// lookupSelf returns the name or the type of the resource that a value belongs to.
func (e *Env) lookupSelf(f Frame, n *yaml.Node, x *value.Expr) (any, bool) {
	field := strings.Join(x.Path, ".")
	switch {
	case f.Ref == nil && f.Property == "name":
		e.refuse(f, n, x.Text+" in the name itself", "write the name")
	case f.Ref == nil:
		e.refuse(f, n, x.Text+" stands outside of a resource", "")
	case field == "name" && f.Ref.Name == "": // the name is wrong, which was reported
	case field == "name":
		return f.Ref.Name, true
	case field == "type":
		return f.Ref.Type, true
	default:
		e.refuse(f, n, x.Text+": of itself a resource knows name and type", "write ${self.name} or ${self.type}")
	}
	return nil, false
}

// lookupItem returns the key or the value of the item that a resource is made for.
func (e *Env) lookupItem(f Frame, n *yaml.Node, x *value.Expr) (any, bool) {
	switch {
	case f.Item == nil:
		e.refuse(f, n, x.Text+" stands outside of a resource with for_each", "give the resource for_each: with a list or a map")
		return nil, false
	case x.Path[0] == "value":
		return walk(f.Item.Value, x.Path[1:]), !f.Item.Unknown
	case len(x.Path) == 1 && x.Path[0] == "key":
		return f.Item.Key, !f.Item.Unknown
	}
	e.refuse(f, n, x.Text+": an item of for_each has key and value", "write ${each.key} or ${each.value}")
	return nil, false
}

// describeMissing returns the message and the suggestion for a path that leads to
// nothing: how far it led, and the names that exist there.
func (e *Env) describeMissing(f Frame, x *value.Expr) (message, suggestion string) {
	suggestion = fmt.Sprintf("write %s:-TEXT} for a default", strings.TrimSuffix(x.Text, "}"))
	var whole any
	switch x.Root {
	case "env":
		return fmt.Sprintf("%s: the environment has no %s", x.Text, strings.Join(x.Path, ".")), suggestion
	case "var":
		whole = e.vars.byName[x.Path[0]].value
	case "host":
		whole, _ = e.facts.all.At(x.Path[0])
	case "each":
		whole = f.Item.Value
	default:
		return x.Text + ": there is no such value", suggestion
	}
	last, steps := value.At(whole, x.Path[1:])
	written := "${" + strings.Join(append([]string{x.Root}, x.Path[:1+steps]...), ".") + "}"
	switch last := last.(type) {
	case nil:
		if x.Root == "host" {
			return x.Text + ": this machine does not say", "give it with --fact " + x.Path[0] + "=…"
		}
		return fmt.Sprintf("%s: the variable %s has no value", x.Text, x.Path[0]), fmt.Sprintf("give it with --var %s=…, or %s", x.Path[0], suggestion)
	case value.Map:
		message = fmt.Sprintf("%s: %s has no %q", x.Text, written, x.Path[1+steps])
		keys := "it is empty"
		if len(last) > 0 {
			keys = "it has " + listKeys(last.Keys())
		}
		if meant := spelling.Suggest(x.Path[1+steps], last.Keys()); meant != "" {
			keys = fmt.Sprintf("did you mean %q? It has %s", meant, listKeys(last.Keys()))
		}
		suggestion = keys + "; " + suggestion
	case []any:
		message = fmt.Sprintf("%s: %s has no item %q", x.Text, written, x.Path[1+steps])
		if len(last) > 0 {
			suggestion = fmt.Sprintf("its items are 0 to %d; %s", len(last)-1, suggestion)
		}
	default:
		message = fmt.Sprintf("%s: %s is %s, which has no parts", x.Text, written, value.Describe(last))
	}
	return message, suggestion
}

// Evaluate returns the value of a node, such as a for_each. It returns false after
// reporting its mistakes.
func (e *Env) Evaluate(f Frame, n *yaml.Node) (any, Found, bool) {
	var found Found
	v, ok := e.evaluateNode(f, n, &found)
	return v, e.finish(f, found), ok
}

func (e *Env) evaluateNode(f Frame, n *yaml.Node, found *Found) (any, bool) {
	n = parse.Target(n)
	switch {
	case parse.IsNull(n):
		e.refuse(f, n, shape.NullMessage, nullSuggestion)
		return nil, false
	case n.Kind == yaml.SequenceNode:
		list, all := make([]any, 0, len(n.Content)), true
		for _, child := range n.Content {
			item, ok := e.evaluateNode(f, child, found)
			list, all = append(list, item), all && ok
		}
		return list, all
	case n.Kind == yaml.MappingNode:
		m, all := value.Map{}, true
		for key, under := range parse.Pairs(n) {
			v, ok := e.evaluateNode(f, under, found)
			m, all = append(m, value.Entry{Key: key.Value, Value: v}), e.refuseKey(f, key) && all && ok
		}
		return m, all
	case !e.hasExpression(n.Value):
		return plainValue(n), true
	}
	return e.evaluateText(f, n, found)
}

// evaluateText returns the value of a scalar with expressions: of a single one its
// value, else a text.
func (e *Env) evaluateText(f Frame, n *yaml.Node, found *Found) (any, bool) {
	parts, valid := e.parseParts(f, n)
	valid = e.refuseRaw(f, n, parts) && valid
	values, ok := e.lookupParts(f, n, parts, found)
	if !ok || !valid {
		return nil, false
	}
	if len(parts) == 1 && parts[0].Expr != nil {
		return values[0], true
	}
	var b strings.Builder
	for i, p := range parts {
		text := p.Text
		if p.Expr != nil {
			text, _ = value.Text(values[i])
		}
		b.WriteString(text)
	}
	return b.String(), true
}
