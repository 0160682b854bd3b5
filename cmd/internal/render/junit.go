package render

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// JUnit returns reports as test reports, as Jenkins, GitLab and others read them:
// a suite for each manifest, a case for each resource. A stable or changed resource
// has passed, a failed one has failed, any other is skipped with its reason.
// testdata/xsd/junit.xsd describes the part of the format that is used.
func JUnit(reports []model.Report, _ Options) []byte {
	doc := junitSuites{Name: "settle"}
	used := map[string]int{}
	for i := range reports {
		s := newSuite(&reports[i], used)
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Skipped += s.Skipped
		doc.ms += s.ms
		doc.Suites = append(doc.Suites, s)
	}
	doc.Time = seconds(doc.ms)
	body, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // only a mistake in the declaration of our own types can fail
	}
	return append([]byte(xml.Header), append(body, '\n')...)
}

type junitCounts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
	ms       int64
}

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Classname string       `xml:"classname,attr"`
	Name      string       `xml:"name,attr"`
	Time      string       `xml:"time,attr"`
	File      string       `xml:"file,attr,omitempty"`
	Line      int          `xml:"line,attr,omitempty"`
	Skipped   *junitResult `xml:"skipped"`
	Failure   *junitResult `xml:"failure"`
	Error     *junitResult `xml:"error"`
	Output    *junitText   `xml:"system-out"`
}

// junitResult holds why a case did not pass.
type junitResult struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Body    string `xml:",cdata"`
}

// junitText is a text of several lines. As CDATA they stay readable.
type junitText struct {
	Body string `xml:",cdata"`
}

// newSuite returns the suite of a report. used counts the names of earlier suites.
func newSuite(r *model.Report, used map[string]int) junitSuite {
	s := junitSuite{
		Name:      uniqueName(Escape(displayName(r)), used),
		Timestamp: r.Started.UTC().Format(time.RFC3339),
		Hostname:  Escape(r.Host),
		Properties: []junitProperty{
			{"mode", r.Mode},
			{"manifest", Escape(r.Manifest)},
			{"run", Escape(r.Run)},
			{"version", Escape(r.Version)},
			{"exit_code", fmt.Sprint(r.ExitCode)},
		},
	}
	s.ms = r.DurationMS
	s.Time = seconds(r.DurationMS)
	caseNames := map[string]int{}
	for _, c := range problemCases(r) {
		c.Classname, c.Name = s.Name, uniqueName(c.Name, caseNames)
		s.add(c)
	}
	for i := range r.Resources {
		c := resourceCase(&r.Resources[i])
		c.Classname, c.Name = s.Name, uniqueName(c.Name, caseNames)
		s.add(c)
	}
	if len(s.Cases) == 0 { // some readers take a suite without a case for missing results
		s.add(junitCase{Classname: s.Name, Name: "manifest", Time: seconds(0), File: Escape(r.Manifest)})
	}
	return s
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// problemCases returns a case for each problem of the manifest, or for the error
// that kept it from running, so that a pipeline that reads only this report sees it.
func problemCases(r *model.Report) []junitCase {
	var cases []junitCase
	for _, p := range r.Problems {
		place := p
		place.Message, place.Suggestion = p.ID, ""
		place.ID = ""
		cases = append(cases, junitCase{
			Name: Escape(strings.Trim(place.String(), ": ")), Time: seconds(0), File: Escape(p.File), Line: p.Line,
			Failure: &junitResult{Type: "manifest", Message: Escape(p.Message), Body: escapeLines(p.String())},
		})
	}
	if r.Error != "" && len(cases) == 0 {
		cases = append(cases, junitCase{
			Name: "manifest", Time: seconds(0), File: Escape(r.Manifest),
			Error: &junitResult{Type: fmt.Sprintf("exit %d", r.ExitCode), Message: Escape(r.Error)},
		})
	}
	return cases
}

func resourceCase(o *model.ResourceReport) junitCase {
	c := junitCase{Name: Escape(o.ID), Time: seconds(o.DurationMS), File: Escape(o.File), Line: o.Line}
	result := &junitResult{Message: Escape(o.Reason)}
	switch o.Status {
	case model.Stable, model.Changed: // passed
	case model.WouldRun, model.WouldRefresh, model.MayRun:
		if isDueCheck(o) { // it changes nothing: passed
			break
		}
		result.Message = statusText(o.Status) + ": " + result.Message
		c.Skipped = result
	case model.Failed:
		if !o.Ignored {
			result.Type, result.Body = failureType(o), failureDetails(o)
			c.Failure = result
			break
		}
		result.Message = "failed and ignored: " + result.Message
		c.Skipped = result
	case model.Interrupted:
		result.Type, result.Body = "interrupted", failureDetails(o)
		c.Error = result
	default:
		result.Message = statusText(o.Status) + ": " + result.Message
		c.Skipped = result
	}
	if text := escapeLines(strings.Join(outputLines(o), "\n")); text != "" {
		c.Output = &junitText{text}
	}
	return c
}

// failureType returns the kind of a failure: one of a few that readers filter by.
func failureType(o *model.ResourceReport) string {
	switch {
	case strings.Contains(o.Reason, "timed out after "):
		return "timeout"
	case o.Signal != "":
		return "signal"
	case o.Exit != nil:
		return "exit"
	}
	return "error"
}

// failureDetails returns the facts about a failure that the attributes of its case
// do not hold.
func failureDetails(o *model.ResourceReport) string {
	var b strings.Builder
	add := func(label, text string) {
		if text = escapeLines(text); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, text)
		}
	}
	add("command", o.Command)
	add("cwd", o.Cwd)
	for _, g := range o.Guards {
		b.WriteString(guardText(g) + "\n")
	}
	if o.Attempts > 1 {
		fmt.Fprintf(&b, "attempts: %d\n", o.Attempts)
	}
	for _, w := range o.Warnings {
		add("warning", w.Message)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// uniqueName returns a name that was not returned before, with a number if needed.
// Readers drop all cases of a name except the first.
func uniqueName(name string, used map[string]int) string {
	used[name]++
	if n := used[name]; n > 1 {
		return uniqueName(fmt.Sprintf("%s (%d)", name, n), used)
	}
	return name
}
