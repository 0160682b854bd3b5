package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

// wellFormed reads XML to its end with a strict parser.
func wellFormed(t *testing.T, doc []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
	}
}

// xmllint is the outside validator: the whole format, against a schema of ours
// written from what Jenkins and GitLab document.
func TestJUnitMatchesItsSchema(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint is not installed (Debian: libxml2-utils)")
	}
	schema := filepath.Join("..", "..", "..", "testdata", "xsd", "junit.xsd")
	for name, reports := range goldenReports() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".xml")
			if err := os.WriteFile(file, JUnit(reports, Options{}), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(xmllint, "--noout", "--nonet", "--schema", schema, file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func readJUnit(t *testing.T, doc []byte) junitSuites {
	t.Helper()
	wellFormed(t, doc)
	var s junitSuites
	if err := xml.Unmarshal(doc, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJUnitCountsCasesByResult(t *testing.T) {
	r := applyReport()
	s := readJUnit(t, JUnit([]model.Report{r, r}, Options{}))
	if len(s.Suites) != 2 || s.Suites[0].Name == s.Suites[1].Name {
		t.Fatalf("the same manifest twice is not two suites: %+v", s.Suites)
	}
	var sum junitCounts
	for _, suite := range s.Suites {
		seen := map[string]bool{}
		var n junitCounts
		for _, c := range suite.Cases {
			n.Tests++
			switch {
			case c.Failure != nil:
				n.Failures++
			case c.Error != nil:
				n.Errors++
			case c.Skipped != nil:
				n.Skipped++
			}
			if seen[c.Name] {
				t.Errorf("two cases are called %q", c.Name)
			}
			seen[c.Name] = true
		}
		sum.Tests, sum.Failures = sum.Tests+n.Tests, sum.Failures+n.Failures
		sum.Errors, sum.Skipped = sum.Errors+n.Errors, sum.Skipped+n.Skipped
		if n.Tests != suite.Tests || n.Failures != suite.Failures || n.Errors != suite.Errors || n.Skipped != suite.Skipped {
			t.Errorf("%s says %+v and holds %+v", suite.Name, suite.junitCounts, n)
		}
	}
	if s.Tests != sum.Tests || s.Failures != sum.Failures || s.Errors != sum.Errors || s.Skipped != sum.Skipped || s.Time != "3.800" {
		t.Errorf("the whole says %+v and holds %+v", s.junitCounts, sum)
	}
	if want := len(r.Resources); s.Suites[0].Tests != want {
		t.Errorf("%d cases for %d resources", s.Suites[0].Tests, want)
	}
}

func TestJUnitFailureTypes(t *testing.T) {
	for _, row := range []struct {
		reason, signal string
		exit           *int
		want           string
	}{
		{"timed out after 2s", "SIGTERM", nil, "timeout"},
		{"onlyif: timed out after 5m", "", nil, "timeout"},
		{"killed by SIGSEGV", "SIGSEGV", nil, "signal"},
		{"exit 3", "", number(3), "exit"},
		{"program nope not found", "", nil, "error"},
	} {
		o := outcome("exec#x", 1, model.Failed, row.reason)
		o.Signal, o.Exit = row.signal, row.exit
		s := readJUnit(t, JUnit([]model.Report{report("apply", 1, []model.ResourceReport{o})}, Options{}))
		if f := s.Suites[0].Cases[0].Failure; f == nil || f.Type != row.want || f.Message != row.reason {
			t.Errorf("%s: %+v, want type %s", row.reason, f, row.want)
		}
	}
}

// A manifest without resources must not look like "no tests were run", and a refused
// one must not look green.
func TestJUnitWithoutResourcesHasACase(t *testing.T) {
	valid := report("validate", 0, nil)
	for _, row := range []struct {
		r                       model.Report
		tests, failures, errors int
	}{
		{valid, 1, 0, 0},
		{invalidReport(), 2, 2, 0},
		{refusedReport(), 1, 0, 1},
	} {
		s := readJUnit(t, JUnit([]model.Report{row.r}, Options{}))
		if s.Tests != row.tests || s.Failures != row.failures || s.Errors != row.errors {
			t.Errorf("%s %q: %+v", row.r.Mode, row.r.Error, s.junitCounts)
		}
	}
}

func TestJUnitNamesAreUnique(t *testing.T) {
	var all []model.ResourceReport
	for _, name := range []string{"a\x1b", `a\x1b`, "a", "a (2)", "a"} {
		all = append(all, outcome("exec#"+name, 1, model.Changed, ""))
	}
	seen := map[string]bool{}
	for _, c := range readJUnit(t, JUnit([]model.Report{report("apply", 0, all)}, Options{})).Suites[0].Cases {
		seen[c.Name] = true
	}
	if len(seen) != len(all) {
		t.Errorf("%d names for %d resources: %v", len(seen), len(all), seen)
	}
}

func TestJUnitKeepsTheOutput(t *testing.T) {
	o := outcome("exec#x", 1, model.Failed, "exit 1")
	o.Output = "one ]]> two\n\tthree\n"
	c := readJUnit(t, JUnit([]model.Report{report("apply", 1, []model.ResourceReport{o})}, Options{})).Suites[0].Cases[0]
	if got := fmt.Sprint(c.Output.Body); got != strings.TrimSpace(o.Output) {
		t.Errorf("%q", got)
	}
}
