package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/resources/provision"
	"github.com/settle-cm/settle/resources/provision/contract"
)

type helperTestCommand struct {
	trialFlags
	Dir    string         `arg:"" optional:"" help:"A directory of cases: NAME.input.json is the input, and the answer must contain NAME.expect.json."`
	Report []publish.File `sep:"none" placeholder:"FORMAT=FILE" help:"Write the result to a file, such as junit=FILE. Repeatable."`
}

// kitCase is one case of the kit.
type kitCase struct {
	name   string
	input  []byte
	expect any  // part of the answer; nil accepts every valid answer
	broken bool // the input is invalid: the helper must not configure a server for it
}

func (c *helperTestCommand) run(a *app) []exit.Ending {
	h, refused := newAsker(c.trialFlags)
	if refused != nil {
		return a.printRefusal(refused)
	}
	cases := buildCases()
	if c.Dir != "" {
		own, err := readPairs(c.Dir)
		if err != nil {
			return a.printRefusal(exit.Refuse(exit.Unreadable, "%s: %w", c.Dir, err))
		}
		cases = append(cases, own...)
	}
	ctx, stop := a.withSignals(context.Background(), time.Second)
	defer stop()
	r := newReport("helper test", c.Helper)
	begun := time.Now()
	for _, t := range cases {
		start := time.Now()
		o := model.ResourceReport{
			Declaration: model.Declaration{ID: "helper#" + t.name, Type: "helper", Name: t.name, Tags: []string{}},
			Status:      model.Stable, Command: c.Helper,
			RefreshedBy: []string{}, Guards: []model.GuardResult{}, Warnings: []model.Problem{},
		}
		said, err := h.run(ctx, &t)
		if o.Reason = said; err != nil {
			o.Status, o.Reason = model.Failed, err.Error()
		}
		if ctx.Err() != nil {
			return []exit.Ending{{Cause: context.Cause(ctx)}}
		}
		o.DurationMS = time.Since(start).Milliseconds()
		r.Resources = append(r.Resources, o)
	}
	r.DurationMS = time.Since(begun).Milliseconds()
	r.Summary = model.Summarize(false, r.Resources, 0)
	if !a.Quiet || r.Summary.Count[model.Failed] > 0 {
		a.print(kitText(&r))
	}
	e := exit.Ending{Report: &r}
	e.Finish()
	if err := publish.WriteFiles(c.Report, []model.Report{r}); err != nil {
		a.err.PrintError(err.Error())
		e.Unwritten = err
	}
	return []exit.Ending{e}
}

// buildCases returns the cases for every helper: servers with every combination of
// features, and two broken inputs.
func buildCases() []kitCase {
	var cases []kitCase
	for _, s := range contract.Samples() {
		cases = append(cases, kitCase{name: s.Name, input: s.Data})
	}
	half := cases[0].input[:len(cases[0].input)/2]
	return append(cases, kitCase{name: "broken", input: half, broken: true}, kitCase{name: "empty", input: []byte{}, broken: true})
}

// readPairs reads the cases of a directory.
func readPairs(dir string) ([]kitCase, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, source.WithoutPath(err)
	}
	var cases []kitCase
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".input.json")
		if !ok {
			continue
		}
		t := kitCase{name: name}
		if t.input, err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
		t.input = bytes.TrimSuffix(t.input, []byte("\n"))
		expect, err := os.ReadFile(filepath.Join(dir, name+".expect.json"))
		if err != nil {
			return nil, fmt.Errorf("%s has no expectation: %w; {} expects any answer", f.Name(), err)
		}
		if t.expect, err = decodeJSON(expect); err != nil {
			return nil, fmt.Errorf("%s.expect.json: %w", name, err)
		}
		cases = append(cases, t)
	}
	if len(cases) == 0 {
		return nil, errors.New("no NAME.input.json is in it: settle helper input makes one")
	}
	return cases, nil
}

// decodeJSON decodes a JSON text and keeps its numbers as they are written.
func decodeJSON(text []byte) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("is not JSON")
	}
	return v, nil
}

// run asks for one case. It returns a description of the answer, or the mistake in it.
func (h *asker) run(ctx context.Context, t *kitCase) (string, error) {
	in, err := contract.ParseInput(t.input)
	if err != nil {
		in = &contract.Input{}
	}
	try, reply, err := h.askAndJudge(ctx, in, t.input, nil)
	switch {
	case t.broken && err != nil && !errors.As(err, new(*proc.StartError)) && !errors.As(err, new(*proc.TimedOut)):
		return "fails, as it should", nil
	case err != nil:
		return "", err
	case t.broken && try.Action != contract.Defer:
		return "", fmt.Errorf("answers %s to an input that is none; defer, or exit with another code than 0", try.Action)
	case try.Err() != nil:
		return "", try.Err()
	}
	if t.expect != nil {
		answer, err := decodeJSON(reply)
		if err != nil {
			return "", err
		}
		if path := findDifference("$", t.expect, answer); path != "" {
			return "", errors.New(path)
		}
	}
	return strings.Join(append([]string{try.Action.String()}, listWarnings(try)...), "; "), nil
}

func listWarnings(t *provision.Trial) []string {
	var list []string
	for _, w := range t.Warnings {
		list = append(list, "warning: "+w.String())
	}
	return list
}

// findDifference describes the first difference between the expected and the actual
// answer. An object may have more keys than expected.
func findDifference(path string, want, got any) string {
	expected, isObject := want.(map[string]any)
	if !isObject {
		w, _ := json.Marshal(want) // both were read from JSON
		g, _ := json.Marshal(got)
		if string(w) != string(g) {
			return fmt.Sprintf("%s: expected %s, got %s", path, w, g)
		}
		return ""
	}
	object, ok := got.(map[string]any)
	if !ok {
		return path + ": expected an object"
	}
	keys := make([]string, 0, len(expected))
	for key := range expected {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		value, ok := object[key]
		if !ok {
			return path + "." + key + ": is missing"
		}
		if where := findDifference(path+"."+key, expected[key], value); where != "" {
			return where
		}
	}
	return ""
}

// kitText returns the results as a table.
func kitText(r *model.Report) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for i := range r.Resources {
		o := &r.Resources[i]
		verdict := "pass"
		if o.Status == model.Failed {
			verdict = "FAIL"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", verdict, render.Escape(o.Name), render.Escape(o.Reason)) // a bytes.Buffer takes every write
	}
	_ = w.Flush() // as above
	fmt.Fprintf(&b, "%d passed, %d failed\n", r.Summary.Count[model.Stable], r.Summary.Count[model.Failed])
	return b.Bytes()
}
