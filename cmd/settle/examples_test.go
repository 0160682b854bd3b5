package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model"
)

// Every example holds what settle promises: it is free of warnings, plan names
// exactly what apply then runs, and a second apply changes nothing.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "manifests", "examples", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copyInto(t, dir, file)
			path := filepath.Join(dir, filepath.Base(file))
			if r := report(t, "validate", "--strict", path); len(r.Problems) > 0 {
				t.Fatalf("%v", r.Problems)
			}
			flags := []string{"--detailed-exitcode", "--state-dir", filepath.Join(dir, "state"), path}
			for n := range 2 {
				plan := report(t, "plan", flags...)
				apply := report(t, "apply", flags...)
				if apply.ExitCode != plan.ExitCode || apply.ExitCode != exit.OK && apply.ExitCode != exit.Pending {
					t.Fatalf("plan exits %d, apply %d: %+v", plan.ExitCode, apply.ExitCode, apply.Resources)
				}
				if diff := cmp.Diff(due(plan), ran(apply)); diff != "" {
					t.Errorf("apply %d: -planned +run\n%s", n+1, diff)
				}
				if changed := apply.Summary.Count[model.Changed]; n > 0 && changed > 0 {
					t.Errorf("the second apply changed %d", changed)
				}
			}
		})
	}
}

// copyInto copies an example with what stands beside it under the same name.
func copyInto(t *testing.T, dir, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644); err != nil {
		t.Fatal(err)
	}
	beside := file[:len(file)-len(".yaml")]
	if info, err := os.Stat(beside); err == nil && info.IsDir() {
		if err := os.CopyFS(filepath.Join(dir, filepath.Base(beside)), os.DirFS(beside)); err != nil {
			t.Fatal(err)
		}
	}
}

// report runs settle with -o json and returns the document.
func report(t *testing.T, command string, args ...string) *model.Report {
	t.Helper()
	var out, log bytes.Buffer
	code := run(append([]string{command, "-o", "json"}, args...), nil, &out, &log)
	var r model.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("settle %s: %v\n%s%s", command, err, &out, &log)
	}
	if r.ExitCode != code {
		t.Errorf("settle %s exits %d and reports %d", command, code, r.ExitCode)
	}
	return &r
}

// due returns the ids of what a plan expects to run.
func due(r *model.Report) []string {
	var ids []string
	for i := range r.Resources {
		switch o := &r.Resources[i]; o.Status {
		case model.WouldRun, model.WouldRefresh, model.MayRun:
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// ran returns the ids of what an apply has run.
func ran(r *model.Report) []string {
	var ids []string
	for i := range r.Resources {
		if r.Resources[i].Attempts > 0 {
			ids = append(ids, r.Resources[i].ID)
		}
	}
	return ids
}
