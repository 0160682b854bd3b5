package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// override is a value that a level gives to a variable.
type override struct {
	level string
	file  *parse.File
	node  *yaml.Node
}

// overriding finds the overrides that hold on this machine.
type overriding struct {
	*Env
	hierarchy *hierarchy                  // nil for none
	fixed     map[*variable]*yaml.Node    // variables that the hierarchy depends on
	levels    map[string][]overridesBlock // under overrides, by level
	dirs      []dataDir
	unchecked []override // with expressions, which can be checked once all overrides are known
}

// overridesBlock is a map of variables under one level.
type overridesBlock struct {
	file *parse.File
	key  *yaml.Node // the level
	vars *yaml.Node
}

// dataDir is a directory that overrides_from names.
type dataDir struct {
	file *parse.File
	node *yaml.Node
	path string // absolute
	show string // as messages show it
}

// overrideAll gives the variables the overrides of the levels that hold on this
// machine. It checks the overrides of all levels under the key overrides.
func (e *Env) overrideAll(sources []Source) {
	main := sources[len(sources)-1].File
	o := overriding{Env: e, hierarchy: e.readHierarchy(main), levels: map[string][]overridesBlock{}}
	if o.hierarchy != nil {
		e.hasLevels = true
		o.fixed = e.variablesOf(o.hierarchy)
	}
	for _, s := range sources {
		o.collect(s)
	}
	if o.hierarchy == nil {
		return
	}
	for _, l := range e.listLevels(o.hierarchy) {
		blocks := slices.Concat(o.levels[l.name], o.readLevel(l))
		for _, b := range blocks {
			for key, under := range parse.Pairs(b.vars) {
				if v := e.vars.byName[key.Value]; v != nil && o.fixed[v] == nil && !v.overridden(l.name, under) {
					v.overrides, v.deep = append(v.overrides, override{l.name, b.file, under}), o.hierarchy.deep
				}
			}
		}
		if len(blocks) > 0 && !o.hierarchy.deep {
			break
		}
	}
	o.checkDirs()
	for _, u := range o.unchecked {
		o.followNode(newFrame(u.file, "overrides"), u.node, nil)
	}
}

// overridden reports whether a level gave the variable a value already, by another
// entry of the hierarchy or at another place, which was reported.
func (v *variable) overridden(level string, n *yaml.Node) bool {
	return slices.ContainsFunc(v.overrides, func(o override) bool { return o.level == level || o.node == n })
}

// collect checks the overrides of a file and keeps them by level.
func (o *overriding) collect(s Source) {
	under := parse.Lookup(s.File.Root, "overrides")
	dir := parse.Lookup(s.File.Root, "overrides_from")
	f := newFrame(s.File, "overrides")
	for _, n := range []*yaml.Node{under, dir} {
		if n != nil && o.hierarchy == nil && !o.partial {
			o.refuse(f, n, "overrides without a hierarchy never hold", `add hierarchy: ["family:${host.family}"], for example`)
			return
		}
	}
	switch {
	case under == nil || parse.IsNull(under):
	case under.Kind != yaml.MappingNode:
		_, _ = o.reader(f).RefuseForm(under, "a map of levels", "write LEVEL: {NAME: VALUE}")
	default:
		for key, vars := range parse.Pairs(under) {
			b := overridesBlock{s.File, key, vars}
			if o.checkLevelName(f, key, key.Value) && o.checkBlock(b) {
				o.levels[key.Value] = append(o.levels[key.Value], b)
			}
		}
	}
	if dir != nil {
		o.addDir(s, dir)
	}
}

// checkBlock reports mistakes in the overrides of one level. It returns false when
// they are not a map.
func (o *overriding) checkBlock(b overridesBlock) bool {
	f := newFrame(b.file, "overrides")
	switch {
	case parse.IsNull(b.vars):
		return true
	case b.vars.Kind != yaml.MappingNode:
		_, _ = o.reader(f).RefuseForm(b.vars, "a map of variables", "write NAME: VALUE")
		return false
	}
	for key, under := range parse.Pairs(b.vars) {
		v := o.vars.byName[key.Value]
		switch {
		case v == nil && !o.partial:
			o.refuseUndeclared(f, key)
		case v == nil:
		case o.fixed[v] != nil:
			o.refuse(f, key, fmt.Sprintf("%s decides the level at %s, so no level can override it", key.Value, entry.Line(o.hierarchy.file.Pos(o.fixed[v]))),
				"give it by --var, or use another variable in the hierarchy")
		default:
			o.checkOverride(f, v, under)
		}
		for _, other := range o.levels[b.key.Value] {
			if other.file != b.file && parse.Lookup(other.vars, key.Value) != nil {
				o.refuse(f, key, fmt.Sprintf("the level %s overrides %s already at %s", parse.Quote(b.key.Value), key.Value, entry.Line(other.file.Pos(other.key))), "drop one of them")
			}
		}
	}
	return true
}

// checkOverride reports a value that the variable cannot have. The type of a value
// with expressions is checked when it is used.
func (o *overriding) checkOverride(f Frame, v *variable, n *yaml.Node) {
	if v.secret {
		o.hideDefault(plainValue(n))
	}
	if HasExpression(n) {
		o.unchecked = append(o.unchecked, override{file: f.File, node: n})
		return
	}
	var found Found
	if raw, ok := o.evaluateNode(f, n, &found); ok {
		_, _ = o.convert(f, v, raw, f.File.Pos(n), false, nil)
	}
}

func (o *overriding) refuseUndeclared(f Frame, key *yaml.Node) {
	suggestion := "declare it under vars"
	if o.guesses += len(o.vars.names); o.guesses <= entry.MaxGuesses {
		if meant := spelling.Suggest(key.Value, o.vars.names); meant != "" {
			suggestion = entry.DidYouMean(meant)
		}
	}
	o.refuse(f, key, fmt.Sprintf("an override of %s, which no file declares", parse.Quote(key.Value)), suggestion)
}

// addDir adds the directory that overrides_from names.
func (o *overriding) addDir(s Source, n *yaml.Node) {
	f := newFrame(s.File, "overrides_from")
	switch v, ok := o.reader(f).ReadLine(n); {
	case !ok:
	case value.HasExpression(v.Text):
		o.refuse(f, n, parse.Quote(v.Text)+" cannot stand in overrides_from", "put the expression into the hierarchy: its levels are the names of the files")
	default:
		d := dataDir{s.File, n, v.Text, v.Text}
		if !filepath.IsAbs(v.Text) {
			d.path, d.show = filepath.Join(s.Dir, v.Text), filepath.Join(filepath.Dir(s.File.Path), v.Text)
		}
		o.dirs = append(o.dirs, d)
	}
}

// readLevel reads the file of a level in each directory of overrides_from.
func (o *overriding) readLevel(l level) []overridesBlock {
	var blocks []overridesBlock
	for i := range o.dirs {
		d := &o.dirs[i]
		f := newFrame(d.file, "overrides_from")
		if o.readFile == nil {
			o.refuse(f, d.node, "overrides_from is not possible here", "")
			continue
		}
		name := filepath.FromSlash(l.name) + ".yaml"
		if !filepath.IsLocal(name) || strings.Contains(l.name, "..") {
			o.refuse(newFrame(o.hierarchy.file, "hierarchy"), l.node, fmt.Sprintf("the level %s names no file below %s", parse.Quote(l.name), d.show), "a level is the name of a file in that directory")
			continue
		}
		data, err := o.readFile(filepath.Join(d.path, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			o.refuse(f, d.node, fmt.Sprintf("read %q: %v", filepath.Join(d.show, name), err), "")
		default:
			if b, ok := o.parseLevel(filepath.Join(d.show, name), l, data); ok {
				blocks = append(blocks, b)
			}
		}
	}
	return blocks
}

// parseLevel parses the file of a level. It returns false after reporting that the
// file cannot be read.
func (o *overriding) parseLevel(path string, l level, data []byte) (overridesBlock, bool) {
	file, ok := readValueFile(ValueFile{path, data}, o.sink)
	o.dataFiles = append(o.dataFiles, file.File)
	if !ok {
		return overridesBlock{}, false
	}
	b := overridesBlock{file.File, &yaml.Node{Value: l.name, Line: 1, Column: 1}, file.Root}
	if b.vars == nil { // an empty file is a level without values
		b.vars = &yaml.Node{Kind: yaml.MappingNode}
	}
	return b, o.checkBlock(b)
}

// checkDirs refuses a directory of overrides that does not exist: otherwise a
// misspelled one would be a directory without levels.
func (o *overriding) checkDirs() {
	for _, d := range o.dirs {
		if o.readFile == nil {
			return
		}
		if _, err := o.readFile(d.path); errors.Is(err, fs.ErrNotExist) {
			f := newFrame(d.file, "overrides_from")
			o.refuse(f, d.node, "there is no directory "+parse.Quote(d.show), "name a directory with a file for each level")
		}
	}
}

// origin returns where the value of a variable comes from, for people.
func (v *variable) origin() string {
	switch {
	case v.given.value != nil:
		return v.given.by
	case len(v.overrides) > 0:
		return v.levelNames()
	case v.fallback == nil:
		return "nothing"
	}
	return "default"
}

// levelNames returns the levels that gave the value of a variable, "" for none.
func (v *variable) levelNames() string {
	if v.given.value != nil {
		return ""
	}
	var names []string
	for _, o := range v.overrides {
		names = append(names, o.level)
	}
	return strings.Join(names, ", ")
}

// levelsOf returns the levels that gave the variable of an expression its value.
func (e *Env) levelsOf(x *value.Expr) string {
	if !e.hasLevels || x.Root != "var" {
		return ""
	}
	if v := e.vars.byName[x.Path[0]]; v != nil {
		return v.levelNames()
	}
	return ""
}

// levelsOfName is levelsOf for a name in a condition, such as var.x.
func (e *Env) levelsOfName(name string) string {
	root, name, _ := strings.Cut(name, ".")
	return e.levelsOf(&value.Expr{Root: root, Path: []string{name}})
}

// Origin says where the value of a variable comes from.
type Origin struct {
	Name string
	From string    // a level, an option, an environment variable, "default", or "nothing"
	Pos  model.Pos // of a value in a file; the zero value for others
}

// Origins returns the origin of each variable of a manifest with a hierarchy, in
// order, and nil for other manifests.
func (e *Env) Origins() []Origin {
	if !e.hasLevels {
		return nil
	}
	var all []Origin
	for _, v := range e.vars.list {
		o := Origin{Name: v.name, From: v.origin()}
		if n := len(v.overrides); n > 0 && v.given.value == nil {
			o.Pos = v.overrides[n-1].file.Pos(v.overrides[n-1].node)
		}
		all = append(all, o)
	}
	return all
}
