package manifests_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// validator compiles our schema, which checks it against the meta-schema too.
func validator(t *testing.T, types []model.Type) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(manifests.Schema(types)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settle.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("settle.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON is a manifest as an editor's YAML reader hands it to a validator; not
// ok when that reader cannot read it.
func asJSON(t *testing.T, text string) (value any, ok bool) {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, false
	}
	data, err := json.Marshal(textKeys(tree))
	if err != nil {
		t.Fatal(err)
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return value, true
}

func textKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = textKeys(value)
		}
	case map[any]any:
		m := map[string]any{}
		for key, value := range v {
			m[fmt.Sprint(key)] = textKeys(value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = textKeys(v[i])
		}
	case time.Time:
		return v.Format(time.DateOnly) // only yaml.v3 makes dates of texts
	}
	return v
}

func TestSchemaAcceptsValidManifests(t *testing.T) {
	t.Parallel()
	schema := validator(t, types())
	all := files(t, "ok")
	for name, text := range files(t, "doubtful") {
		all["doubtful "+name] = text
	}
	examples, err := filepath.Glob("examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(data)
	}
	for name, text := range all {
		value, ok := asJSON(t, text)
		if !ok {
			t.Errorf("%s: no YAML", name)
			continue
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What an editor accepts and settle refuses: only settle looks into texts,
// resolves references, knows which names exist, and reads the whole file.
var beyondSchema = strings.Fields(`
	ccm-expressions ccm-expressions-of-other-kinds expression-leads-nowhere expression-of-other-kinds expression-with-a-wrong-key value-wrong-type value-zero-byte value-path value-sensitive
	command-carriage-return command-lines command-operators command-quotes
	loop loop-from-the-other-end loop-shortest loops-apart ref-hash
	name-alias-clashes name-defaults name-defined-twice defaults-read-by-many empty-lists
	text-utf16 yaml-after-the-end yaml-second-document yaml-deep yaml-exclamation-mark yaml-exclamation-space
`)

func TestSchemaRefusesInvalidManifests(t *testing.T) {
	t.Parallel()
	schema := validator(t, execType())
	var accepted []string
	for name, text := range files(t, "bad") {
		if value, ok := asJSON(t, text); ok && schema.Validate(value) == nil {
			accepted = append(accepted, strings.TrimSuffix(name, ".yaml"))
		}
	}
	less := cmp.Transformer("set", func(names []string) map[string]bool {
		set := map[string]bool{}
		for _, name := range names {
			set[name] = true
		}
		return set
	})
	if diff := cmp.Diff(beyondSchema, accepted, less); diff != "" {
		t.Errorf("what the schema accepts of the bad manifests (-want +got):\n%s", diff)
	}
}

func TestSchemaIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(manifests.Schema(types()), manifests.Schema(types())) {
		t.Error("two schemas differ")
	}
}

// Each property's example must be one that loads, that the schema accepts and
// that stands in the README's table and in the explanation.
func TestExamplesOfPropertiesLoad(t *testing.T) {
	t.Parallel()
	schema := validator(t, types())
	reference := manifests.Reference(types())
	for _, typ := range types() {
		for _, p := range append(append([]model.Property{}, typ.Properties...), model.Common...) {
			id := typ.Name + "." + p.Name
			if p.Example == "" || p.Meaning == "" {
				t.Errorf("%s has no example or no meaning", id)
				continue
			}
			explained, err := manifests.Explain(types(), id)
			if err != nil || !strings.Contains(explained, strings.Split(p.Example, "\n")[0]) {
				t.Errorf("Explain(%s) = %q, %v; want the example in it", id, explained, err)
			}
			if !strings.Contains(reference, "| `"+p.Name+"` |") {
				t.Errorf("%s is not in the reference", id)
			}
			text := fmt.Sprintf("- %s:\n    - x:\n        %s:\n          %s\n", typ.Name, p.Name, strings.ReplaceAll(p.Example, "\n", "\n          "))
			if p.Name == "name" {
				text = fmt.Sprintf("- %s:\n    name: %s\n", typ.Name, p.Example)
			}
			checkExample(t, schema, id, p.Name, text)
		}
	}
}

// checkExample looks only at the value's form: an example may need other
// properties beside it, or resources that it refers to.
func checkExample(t *testing.T, schema *jsonschema.Schema, id, property, text string) {
	t.Helper()
	value, ok := asJSON(t, text)
	if !ok {
		t.Errorf("%s: the example is no YAML:\n%s", id, text)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: the schema refuses the example: %v", id, err)
	}
	_, problems, _ := manifests.Load(manifests.Source{Path: "example.yaml", Dir: "/srv", Bytes: []byte(text)}, types())
	for _, p := range problems {
		shape := strings.HasPrefix(p.Message, "want ") || strings.HasPrefix(p.Message, "unknown ") || strings.HasPrefix(p.Message, "no value")
		if p.Property == property && shape {
			t.Errorf("%s: %s", id, p)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"", "exec", "parallel", "fail_on_error", "exec.creates"} {
		text, err := manifests.Explain(types(), what)
		if err != nil || text == "" || !strings.HasSuffix(text, "\n") {
			t.Errorf("Explain(%q) = %q, %v", what, text, err)
		}
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 80 {
				t.Errorf("Explain(%q): a line of %d letters: %s", what, len(line), line)
			}
		}
	}
	for _, tt := range []struct{ what, want string }{
		{"exec.creats", `exec has no property "creats"; did you mean "exec.creates"?`},
		{"exec.frobnicate", `exec has no property "frobnicate": settle explain exec lists them`},
		{"exec.env", `exec has no property "env"; did you mean "exec.environment"?`},
		{"creates", `no type is called "creates"; did you mean "exec.creates"?`},
		{"exce.creates", `no type is called "exce"; did you mean "exec"?`},
		{"paralel", `no type is called "paralel"; did you mean "parallel"?`},
		{"frobnicate", `no type is called "frobnicate": settle explain lists them`},
	} {
		if text, err := manifests.Explain(types(), tt.what); err == nil || err.Error() != tt.want {
			t.Errorf("Explain(%q) = %q, %v; want error %s", tt.what, text, err, tt.want)
		}
	}
}
