// Package manifests turns the bytes of a manifest into a model.Manifest, or into
// every problem in them, each with its place and a suggestion. It calls the stages
// of loading in order: the files are parsed (parse), the variables declared and
// given values (eval), the keys read, the resources found (outline) and decoded
// (decode), and their references resolved (resolve). The packages of the stages
// know YAML; no package knows a resource type: the properties of an entry come from
// the table of types.
package manifests

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/decode"
	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/excerpt"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/render"
	"github.com/settle-cm/settle/manifests/resolve"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// Source is a manifest before it is read.
type Source struct {
	Path     string // as the user gave it, for messages
	Dir      string // absolute; what relative paths in it are relative to
	Identity string // the absolute path of the file, "" for standard input: used when the manifest has no name
	Bytes    []byte
	Environ  []string // settle's own environment: for ${env.…}, SETTLE_VAR_… and the values of secrets to redact
	Inputs
}

// Inputs are the values that a manifest is given from outside. The functions are
// called when they are first needed, and may be nil.
type Inputs struct {
	VarFiles  []ValueFile                               // --var-file, over SETTLE_VAR_NAME; of two the later wins
	Vars      []Given                                   // --var, over VarFiles; of two with one name the later wins
	Facts     []Given                                   // --fact, over FactFiles
	FactFiles []ValueFile                               // --facts-file, over Host
	Host      func() (map[string]any, error)            // facts of this machine: texts, ints, []any and map[string]any
	Elsewhere func(variable string) bool                // reports that another manifest, given the same values, declares a variable
	Peek      func(path string) []byte                  // returns the beginning of a regular file, nil for anything else
	Include   func(path string) (src []byte, err error) // reads a file that a manifest names, such as one that it includes, by its absolute path
}

// Given is a value given on the command line, K=V.
type Given = eval.Given

// ValueFile is a file of values, YAML or JSON.
type ValueFile = eval.ValueFile

// Load reads a manifest of resources of the given types. The manifest is non-nil
// exactly when there is no problem. There may be warnings in both cases.
func Load(src Source, types []model.Type) (m *model.Manifest, problems, warnings model.Problems) {
	l := load(src, schema.NewTypes(types), false)
	problems, warnings = l.finish()
	if len(problems) > 0 {
		return nil, problems, warnings
	}
	return l.manifest, nil, warnings
}

// LoadGraph loads a manifest for `settle graph`. Unlike Load it accepts dependency
// cycles, so that they can be drawn. It returns each cycle as indexes of resources,
// every one of which waits for the next. The manifest is nil when it has any other
// problem.
func LoadGraph(src Source, types []model.Type) (*model.Manifest, [][]int) {
	l := load(src, schema.NewTypes(types), false)
	if l.sink.Count() > len(l.cycles) {
		return nil, nil
	}
	return l.manifest, l.cycles
}

// Render returns a manifest with all its values put in, as YAML that loads again:
// its resources one by one, those of included files and of for_each too, with their
// properties after defaults. Secrets are redacted, and so are commands,
// input and environment of sensitive resources. The text is nil exactly when there is a problem.
func Render(src Source, types []model.Type) (text []byte, problems, warnings model.Problems) {
	vocabularies := schema.NewTypes(types)
	l := load(src, vocabularies, true)
	if l.sink.Count() == 0 {
		text = render.YAML(render.Input{
			Path: src.Path, Dir: src.Dir, CCM: l.env != nil && l.env.IsCCM(), Keys: l.keys.values,
			Secrets: l.manifest.Secrets, Redacted: l.secretValues(), Bodies: l.entries.Bodies, Types: vocabularies, Origins: l.origins(),
		}, l.sink)
	}
	problems, warnings = l.finish()
	if len(problems) > 0 {
		return nil, problems, warnings
	}
	return text, nil, warnings
}

// origins returns where the values of the variables came from, for rendering.
func (l *loaded) origins() []render.Origin {
	var list []render.Origin
	if l.env == nil {
		return nil
	}
	for _, o := range l.env.Origins() {
		if o.Pos.File != "" {
			o.From += " (" + o.Pos.String() + ")"
		}
		list = append(list, render.Origin{Variable: o.Name, From: o.From})
	}
	return list
}

// JSON returns the result of Render as a JSON document, which is a manifest too.
func JSON(text []byte) []byte { return render.JSON(text) }

// loaded is a manifest after all stages.
type loaded struct {
	src      Source
	sources  sources
	env      *eval.Env // nil when the file of the manifest holds nothing
	keys     keys      // of the manifest's own file
	entries  entry.Entries
	cycles   [][]int
	manifest *model.Manifest // valid when the sink holds no problem
	sink     *entry.Sink
}

// open gathers the files of a manifest and makes a manifest without content.
func open(src Source) loaded {
	l := loaded{src: src, sink: entry.NewSink(src.Path)}
	l.sources = gather(src, l.sink)
	l.manifest = &model.Manifest{
		Path: src.Path, Dir: src.Dir, Identity: src.Identity, Parallel: 1,
		Hash: l.sources.hash, TextHash: l.sources.hash,
	}
	return l
}

// newEnv returns the environment that the expressions of a manifest see.
func newEnv(src Source, s sources, sink *entry.Sink) *eval.Env {
	in := eval.Inputs{
		Environ: src.Environ, Vars: src.Vars, VarFiles: src.VarFiles,
		Facts: src.Facts, FactFiles: src.FactFiles, Host: src.Host, Elsewhere: src.Elsewhere, ReadFile: src.Include, Peek: src.Peek,
	}
	return eval.New(in, s.sections(), s.partial, sink)
}

// load takes a manifest through all stages. keepBodies keeps the properties of the
// resources, for rendering.
func load(src Source, types schema.Types, keepBodies bool) loaded {
	l := open(src)
	if l.sources.main.Root == nil {
		l.warnAboutEmpty(nil)
		return l
	}
	l.env = newEnv(src, l.sources, l.sink)
	m := l.manifest
	m.CleanEnv = l.env.IsCCM()
	var sections []decode.Section
	for _, f := range l.sources.all {
		k := readKeys(f, src.Path, l.env, types, l.sink)
		for _, v := range k.secrets() {
			m.Secrets = append(m.Secrets, v.Text)
		}
		if f == l.sources.main {
			l.keys = k
			k.apply(m)
		}
		sections = append(sections, k.section)
	}
	opts := decode.Options{Types: types, CleanEnv: m.CleanEnv, Secrets: m.Secrets, KeepBodies: keepBodies}
	l.warnAboutEmpty(sections)
	l.entries = decode.Decode(sections, l.env, opts, l.sink)
	result := resolve.Resolve(l.entries, resolve.Options{Types: types.Names, Partial: l.sources.partial}, l.sink)
	m.Resources, m.Order, l.cycles = l.entries.Resources, result.Order, result.Cycles
	l.seal()
	return l
}

// warnAboutEmpty warns when no file of the manifest has an entry: a mistake such as a
// wrong file would look like a machine that is as declared.
func (l *loaded) warnAboutEmpty(sections []decode.Section) {
	hasEntries := func(s decode.Section) bool { return s.Entries != nil && len(s.Entries.Content) > 0 }
	if l.sink.Count() == 0 && !slices.ContainsFunc(sections, hasEntries) {
		l.sink.Warn(model.Problem{Pos: model.Pos{File: l.src.Path, Line: 1, Column: 1}, Message: "the manifest declares no resource", Suggestion: "list resources under resources:; settle init writes an example"})
	}
}

// seal completes the manifest with facts about the values that were put into it: a
// hash that changes with them, and the secrets among them.
func (l *loaded) seal() {
	m := l.manifest
	m.Hash = l.env.Hash(m.Hash)
	var secrets entry.Secrets
	for _, list := range [][]string{l.entries.Secrets.Values(), l.env.SecretValues(m.Secrets)} {
		for _, text := range list {
			secrets.Add(text)
		}
	}
	m.SecretValues = secrets.Values()
	if len(m.SecretValues) == 0 {
		return
	}
	for i := range m.Resources {
		for j, u := range m.Resources[i].Values {
			if strings.HasSuffix(u.Value, "…") { // a redactor does not recognise a secret that was cut
				m.Resources[i].Values[j].Value = excerpt.RedactCut(u.Value, m.SecretValues)
			}
		}
	}
}

// secretValues returns every value that must not be shown.
func (l *loaded) secretValues() []string {
	values := excerpt.SecretValues(l.manifest.Secrets, l.src.Environ, l.sources.parsed(), l.sink.Count() > 0)
	values = append(values, l.manifest.SecretValues...)
	if l.env != nil {
		values = append(values, l.env.SecretValues(nil)...)
	}
	return values
}

// finish returns the problems and warnings as people get them.
func (l *loaded) finish() (problems, warnings model.Problems) {
	if l.sink.Count()+len(l.sink.Warnings()) == 0 {
		return nil, nil
	}
	files := l.sources.parsed()
	if l.env != nil {
		files = append(files, l.env.DataFiles()...)
	}
	w := excerpt.New(files, l.secretValues())
	return w.Finish(l.sink.Problems()), w.Finish(l.sink.Warnings())
}

// Identify returns a manifest with only Name and Identity set. It is for commands
// that need to locate the state directory, and works when the rest of the manifest
// is invalid. It returns nil and the reasons when the name cannot be told.
func Identify(src Source) (*model.Manifest, model.Problems) {
	l := open(src)
	if root := l.sources.main.Root; root != nil {
		l.env = newEnv(src, l.sources, l.sink)
		if name, ok := l.readName(root); ok {
			if name != "" {
				l.manifest.Name, l.manifest.Identity = name, name
			}
			return l.manifest, nil // other problems do not concern the identity
		}
	}
	if l.sink.Count() > 0 {
		problems, _ := l.finish()
		return nil, problems
	}
	return l.manifest, nil
}

// readName returns the name of a manifest, "" for none. It returns false after
// reporting its mistakes.
func (l *loaded) readName(root *yaml.Node) (string, bool) {
	under := parse.Lookup(root, "name")
	if under == nil || parse.Lookup(root, "ccm") != nil { // a CCM manifest has no name
		return "", true
	}
	r := keyReader{file: l.sources.main, env: l.env}
	v, ok := r.readValue(schema.Find(schema.Keys, "name"), findKey(root, "name"), under)
	return v.Text, ok
}

// Variables returns the names of the variables that a manifest declares. It works
// when the rest of the manifest is invalid.
func Variables(src Source) []string {
	src.Inputs = Inputs{Include: src.Include}
	l := open(src)
	return newEnv(src, l.sources, l.sink).VariableNames()
}

// Name returns the name that a manifest gives itself, "" when it has none or is no
// valid YAML. It works when the rest of the manifest is invalid.
func Name(src Source) string {
	root := parse.Root(src.Bytes)
	if root == nil || root.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(root.Content); i += 2 { // not parse.Pairs: the tree was not checked
		key, name := root.Content[i], root.Content[i+1]
		if key.Value != "name" || name.Kind != yaml.ScalarNode || parse.IsNull(name) || strings.ContainsAny(name.Value, "\r\n") {
			continue
		}
		if !value.HasExpression(name.Value) {
			return name.Value
		}
		if m, _ := Identify(src); m != nil {
			return m.Name
		}
	}
	return ""
}
