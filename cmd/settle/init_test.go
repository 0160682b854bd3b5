package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

// An editor has nothing to say of the manifest that settle init makes.
func TestStarterFitsItsSchema(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(manifests.Schema(resources.Types(resources.World{}))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaFile, parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal(fmt.Appendf(nil, starter, "web"), &tree); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
}

func TestNameFromADirectory(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/srv/web":                         "web",
		"/srv/Web-2.0_a":                   "Web-2.0_a",
		"/":                                "site",
		"/srv/null":                        "site",
		"/srv/two words":                   "site",
		"/srv/a: b":                        "site",
		"/srv/${var.x}":                    "site",
		"/srv/\xff":                        "site",
		"/srv/" + fmt.Sprintf("%0200d", 1): "site",
	} {
		if got := nameFrom(dir); got != want {
			t.Errorf("nameFrom(%q) = %q, want %q", dir, got, want)
		}
	}
}
