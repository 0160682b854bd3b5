package eval

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/ccm"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// lookupCCM returns the value of an expression in CCM's language. It returns false
// after noting why it leads to nothing.
func (e *Env) lookupCCM(f Frame, n *yaml.Node, x *value.Expr, found *Found) (any, bool) {
	result, ok := e.evaluateCCM(f, n, x.Path[0], false, func(p ccm.Error) {
		found.Missing = append(found.Missing, f.Problem(f.File.Pos(n), x.Text+": "+p.Message, p.Suggestion))
	})
	if !ok {
		return nil, false
	}
	switch v := result.(type) {
	case float64:
		return fmt.Sprint(v), true
	default:
		return value.FromNative(v), true
	}
}

// evaluateCCM evaluates an expression and warns of what it is missing. lenient makes
// missing values empty. It calls refuse with a mistake and returns false then.
func (e *Env) evaluateCCM(f Frame, n *yaml.Node, code string, lenient bool, refuse func(ccm.Error)) (any, bool) {
	world := e.world
	world.Lenient = lenient
	world.Environ = e.environ.get
	if strings.Contains(code, "acts") { // Facts, or a path of facts
		if !e.gatherFacts(f, n) {
			return nil, false
		}
		world.Facts = e.ccmFacts()
	}
	result, err := world.Evaluate(code)
	for _, w := range result.Warnings {
		e.sink.Warn(f.Problem(f.File.Pos(n), w.Message, w.Suggestion))
	}
	if err != nil {
		var mistake *ccm.Error
		if !errors.As(err, &mistake) {
			mistake = &ccm.Error{Message: err.Error()}
		}
		refuse(*mistake)
		return nil, false
	}
	return ccm.Normalize(result.Value), true
}

// ccmFacts returns the gathered facts under CCM's names.
func (e *Env) ccmFacts() map[string]any {
	if e.world.Facts == nil {
		ours, _ := value.ToNative(e.facts.all).(map[string]any)
		given, _ := value.ToNative(e.facts.given).(map[string]any)
		e.world.Facts = ccm.Facts(ours, given)
	}
	return e.world.Facts
}

// conditionCCM evaluates a condition in CCM's language. It returns false in ok after
// reporting a mistake.
func (e *Env) conditionCCM(f Frame, n *yaml.Node, text string) (holds, ok bool) {
	v, ok := e.evaluateCCM(f, n, text, false, func(p ccm.Error) { e.refuse(f, n, p.Message, p.Suggestion) })
	if !ok {
		return false, false
	}
	holds, isBool := v.(bool)
	if !isBool {
		e.refuse(f, n, "want true or false, got "+value.Describe(value.FromNative(v)), `compare it: Facts.host.info.os == "linux"`)
	}
	return holds, isBool
}

// isCCMCondition reports whether a condition in a CCM manifest is in CCM's language.
func (e *Env) isCCMCondition(text string) bool {
	return e.ccm && (strings.Contains(text, "lookup") || strings.Contains(text, "Facts") || strings.Contains(text, "Data") || strings.Contains(text, "Environ"))
}

// native returns the value of a node of data, with the values of its expressions.
// What is missing is empty there.
func (e *Env) native(f Frame, n *yaml.Node) any {
	switch n = parse.Target(n); {
	case n.Kind == yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, child := range n.Content {
			list = append(list, e.native(f, child))
		}
		return list
	case n.Kind == yaml.MappingNode:
		m := map[string]any{}
		for key, under := range parse.Pairs(n) {
			m[key.Value] = e.native(f, under)
		}
		return m
	case parse.IsNull(n):
		return nil
	case ccm.Has(n.Value):
		v, _ := e.nativeText(f, n)
		return v
	case n.Style == 0:
		return nativeScalar(n)
	}
	return n.Value
}

// nativeText returns the value of a text with expressions, and whether any of them
// led to something.
func (e *Env) nativeText(f Frame, n *yaml.Node) (v any, matched bool) {
	parts, problems := splitCCM(n.Value)
	for _, p := range problems {
		e.refuse(f, n, p.Message, p.Suggestion)
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Expr == nil {
			b.WriteString(p.Text)
			continue
		}
		var v any
		ok := false
		if p.Expr.Root == ccmRoot {
			v, ok = e.evaluateCCM(f, n, p.Expr.Path[0], true, func(m ccm.Error) { e.refuse(f, n, p.Text+": "+m.Message, m.Suggestion) })
		} else {
			var found Found
			v, ok = e.lookup(f, n, p.Expr, &found)
			v = value.ToNative(v)
			e.finish(Frame{}, found)
		}
		if !ok {
			return "", false
		}
		matched = matched || v != nil && v != ""
		if strings.TrimSpace(n.Value) == p.Text {
			return v, matched
		}
		b.WriteString(cmp.Or(textOf(v)))
	}
	return b.String(), matched
}

// readCCM reads the data of a CCM manifest: its base, the overrides of the levels
// that hold on this machine, and what is given from outside.
func (e *Env) readCCM(file *parse.File, in Inputs) {
	data := map[string]any{}
	n := parse.Lookup(file.Root, "data")
	e.world.NoData = n == nil || parse.IsNull(n)
	if n != nil {
		data = e.nativeMap(newFrame(file, "data"), n)
	}
	data = e.overrideCCM(file, data)
	e.world.Data = e.giveCCM(in, data)
	if n != nil && n.Kind == yaml.MappingNode {
		e.checkAnnotations(newFrame(file, "data"), n, e.world.Data)
	}
}

// nativeMap returns the value of a node that has to be a map.
func (e *Env) nativeMap(f Frame, n *yaml.Node) map[string]any {
	switch {
	case parse.IsNull(n):
		return map[string]any{}
	case n.Kind != yaml.MappingNode:
		_, _ = e.reader(f).RefuseForm(n, "a map", "")
		return map[string]any{}
	}
	m, _ := e.native(f, n).(map[string]any)
	return m
}

// overrideCCM returns data with the overrides of the levels that hold: of the first
// one, or of all of them with merge: deep.
func (e *Env) overrideCCM(file *parse.File, data map[string]any) map[string]any {
	h := &hierarchy{file: file, order: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "default"}}}
	if parse.Lookup(file.Root, "hierarchy") != nil {
		if h = e.readHierarchy(file); h == nil {
			return data
		}
	}
	under := parse.Lookup(file.Root, "overrides")
	f := newFrame(file, "overrides")
	if under != nil && under.Kind != yaml.MappingNode && !parse.IsNull(under) {
		_, _ = e.reader(f).RefuseForm(under, "a map of levels", "write LEVEL: {NAME: VALUE}")
		return data
	}
	for _, n := range h.order {
		name, matched := n.Value, n.Value != ""
		if ccm.Has(n.Value) {
			var v any
			v, matched = e.nativeText(newFrame(file, "hierarchy"), n)
			name = textOf(v)
		}
		level := parse.Lookup(under, name)
		if !matched || level == nil || !e.checkLevelName(newFrame(file, "hierarchy"), n, name) {
			continue
		}
		values := e.nativeMap(f, level)
		if !h.deep {
			maps.Copy(data, values)
			return data
		}
		data = ccm.Merge(data, values)
	}
	return data
}

// giveCCM returns data with the values that are given from outside: SETTLE_VAR_NAME
// of a name that data has, files, and --var. A file may add names.
func (e *Env) giveCCM(in Inputs, data map[string]any) map[string]any {
	names := slices.Sorted(maps.Keys(data))
	put := func(name, text string, pos model.Pos) {
		v, err := readAs(text, data[name])
		if err != nil {
			e.sink.Refuse(model.Problem{Pos: pos, Property: "data", Message: name + ": " + err.Error()})
			return
		}
		data[name] = v
	}
	for _, pair := range in.Environ {
		key, text, _ := strings.Cut(pair, "=")
		if name, ours := strings.CutPrefix(key, "SETTLE_VAR_"); ours && slices.Contains(names, name) {
			put(name, text, model.Pos{File: key})
		}
	}
	for _, given := range in.VarFiles {
		file, _ := readValueFile(given, e.sink)
		if file.Root != nil {
			data = ccm.Merge(data, e.nativeMap(newFrame(file.File, "data"), file.Root))
			e.world.NoData = false
		}
	}
	for _, g := range in.Vars {
		pos := model.Pos{File: "--var"}
		if _, ok := data[g.Key]; !ok && !e.world.NoData && (in.Elsewhere == nil || !in.Elsewhere(g.Key)) {
			suggestion := "add it under data"
			if meant := spelling.Suggest(g.Key, names); meant != "" {
				suggestion = entry.DidYouMean(meant)
			}
			e.sink.Refuse(model.Problem{Pos: pos, Property: "data", Message: fmt.Sprintf("the data of the manifest has no %q", g.Key), Suggestion: suggestion})
			continue
		}
		put(g.Key, g.Text, pos)
	}
	e.world.NoData = e.world.NoData && len(data) == 0
	return data
}

// readAs returns a text from outside as a value of the same type as another one.
func readAs(text string, like any) (any, error) {
	if like == nil {
		return text, nil
	}
	if _, isFloat := like.(float64); isFloat {
		return text, nil
	}
	v, err := readTyped(text, value.TypeOf(value.FromNative(like)))
	return value.ToNative(v), err
}

// checkAnnotations checks the values of data by the comments above their keys:
// @require, and @validate with a condition.
func (e *Env) checkAnnotations(f Frame, n *yaml.Node, data map[string]any) {
	for key, under := range parse.Pairs(n) {
		v := data[key.Value]
		for line := range strings.Lines(key.HeadComment) {
			e.checkAnnotation(f, key, strings.TrimSpace(strings.TrimLeft(line, "# \t")), v)
		}
		if below, isMap := v.(map[string]any); isMap && under.Kind == yaml.MappingNode {
			e.checkAnnotations(f, under, below)
		}
	}
}

// checkAnnotation checks one value by one line of a comment.
func (e *Env) checkAnnotation(f Frame, key *yaml.Node, line string, v any) {
	word, condition, _ := strings.Cut(line, " ")
	switch {
	case !strings.HasPrefix(word, "@"):
	case word == "@require" || word == "@required":
		if v == nil || v == "" {
			e.refuse(f, key, key.Value+" is required and empty", fmt.Sprintf("give it with --var %s=…", key.Value))
		}
	case word != "@validate":
		e.sink.Warn(f.Problem(f.File.Pos(key), fmt.Sprintf("unknown directive %s above %s", word, key.Value), "write @require or @validate"))
	default:
		switch v.(type) {
		case nil, []any, map[string]any:
			return
		}
		holds, err := ccm.Validate(strings.TrimSpace(condition), v)
		if err != nil {
			e.refuse(f, key, fmt.Sprintf("@validate of %s: %v", key.Value, err), "write a condition such as isIPv4(value)")
		} else if !holds {
			e.refuse(f, key, fmt.Sprintf("%s is %s, which is not %s", key.Value, value.Describe(value.FromNative(v)), strings.TrimSpace(condition)), "")
		}
	}
}

// WarnQuoted warns of values in the commands of a CCM manifest that CCM would have
// put in as raw text, with another meaning: several words, or shell syntax.
func (e *Env) WarnQuoted(f Frame, v model.Value) {
	if !e.ccm {
		return
	}
	for _, item := range v.Each() {
		for i, p := range item.Placeholders.Each() {
			if strings.Trim(p.Text, plainCharacters) == "" && p.Text != "" || p.Raw || isInQuotes(item.Placeholders.Template, i) && !strings.ContainsAny(p.Text, "'\"`$\\") {
				continue
			}
			e.sink.Warn(f.Problem(item.Pos, fmt.Sprintf("the value of %s is one word here, and CCM puts it in as raw text", p.Expr), "write the words of the command out, with one expression for each"))
		}
	}
}
