package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bill of a real program, this test, is as the format's own schema wants it,
// names what is linked in, and comes out the same twice.
func TestBill(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := run(out, program, "1.2.3", ""); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("the same program has two bills")
	}
	document, err := jsonschema.UnmarshalJSON(&second)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(document); err != nil {
		t.Error(err)
	}
	document.(map[string]any)["metadata"] = "none"
	if schema(t).Validate(document) == nil {
		t.Error("the schema takes anything")
	}
	for _, want := range []string{
		`"timestamp": "2023-11-14T22:13:20Z"`, `"version": "1.2.3"`,
		`"purl": "pkg:golang/std@1.`, `"purl": "pkg:golang/github.com/CycloneDX/cyclonedx-go@v0.`,
	} {
		if !strings.Contains(first.String(), want) {
			t.Errorf("the bill lacks %s:\n%s", want, first.String())
		}
	}
}

// .packaging/test has the bills of a release checked: go test ./bill -args FILE…
func TestBillsOfARelease(t *testing.T) {
	if flag.NArg() == 0 {
		t.Skip("no bills were named")
	}
	for _, name := range flag.Args() {
		text, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(text)
		if err := errors.Join(err, text.Close()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := schema(t).Validate(document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// schema is that of CycloneDX 1.6, with what it refers to, out of the module that has them.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for url, file := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json", // the module misspells it
	} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+url, document); err != nil {
			t.Fatal(err)
		}
	}
	return compiler.MustCompile("http://cyclonedx.org/schema/bom-1.6.schema.json")
}

func TestTermsAreNeeded(t *testing.T) {
	var text bytes.Buffer
	dir := t.TempDir()
	if err := appendTerms(&text, "example.org/x v1.0.0", dir); err == nil {
		t.Error("a module without terms is taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte("do as you like\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := appendTerms(&text, "example.org/x v1.0.0", dir); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "example.org/x v1.0.0: LICENSE.md\n\ndo as you like\n") {
		t.Errorf("the terms are missing:\n%s", text.String())
	}
}
