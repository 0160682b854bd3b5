package render

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// JUnit is the report as a test report, as Jenkins, GitLab and others read it: a
// suite for each manifest, a case for each resource. What is as declared passes,
// what failed fails, and what did not come to its end is skipped with the reason.
// testdata/xsd/junit.xsd is what of the format is used.
func JUnit(reports []model.Report, _ Options) []byte {
	doc := junitSuites{Name: "settle"}
	used := map[string]int{}
	for i := range reports {
		s := suite(&reports[i], used)
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
		panic(err) // our own types: only a mistake in their declaration can fail
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

// junitResult is why a case did not pass.
type junitResult struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Body    string `xml:",cdata"`
}

// junitText is a text of several lines, which stay readable as CDATA.
type junitText struct {
	Body string `xml:",cdata"`
}

func suite(r *model.Report, used map[string]int) junitSuite {
	name := r.Name
	if name == "" {
		name = r.Manifest
	}
	s := junitSuite{
		Name:      unique(Escape(name), used),
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
	taken := map[string]int{}
	for _, c := range refusedCases(r) {
		c.Classname, c.Name = s.Name, unique(c.Name, taken)
		s.add(c)
	}
	for i := range r.Resources {
		c := resourceCase(&r.Resources[i])
		c.Classname, c.Name = s.Name, unique(c.Name, taken)
		s.add(c)
	}
	if len(s.Cases) == 0 { // a suite without a case counts as "no results" with some readers
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

// refusedCases are what went wrong without being a resource's fault, so that a
// pipeline that reads only this report sees it.
func refusedCases(r *model.Report) []junitCase {
	var cases []junitCase
	for _, p := range r.Problems {
		place := p
		place.Message, place.Suggestion = p.ID, ""
		place.ID = ""
		cases = append(cases, junitCase{
			Name: Escape(strings.Trim(place.String(), ": ")), Time: seconds(0), File: Escape(p.File), Line: p.Line,
			Failure: &junitResult{Type: "manifest", Message: Escape(p.Message), Body: multiline(p.String())},
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
	case model.Stable, model.Changed: // it passes
	case model.Failed:
		if !o.Ignored {
			result.Type, result.Body = failureType(o), details(o)
			c.Failure = result
			break
		}
		result.Message = "failed and ignored: " + result.Message
		c.Skipped = result
	case model.Interrupted:
		result.Type, result.Body = "interrupted", details(o)
		c.Error = result
	default:
		result.Message = words(o.Status) + ": " + result.Message
		c.Skipped = result
	}
	if text := multiline(o.Output); text != "" {
		c.Output = &junitText{text}
	}
	return c
}

// failureType sorts failures into the few kinds that a reader can filter by.
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

// details is what a person needs to know of a failure, as far as the attributes
// do not say it.
func details(o *model.ResourceReport) string {
	var b strings.Builder
	put := func(label, text string) {
		if text = multiline(text); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, text)
		}
	}
	put("command", o.Command)
	put("cwd", o.Cwd)
	for _, g := range o.Guards {
		b.WriteString(guard(g) + "\n")
	}
	if o.Attempts > 1 {
		fmt.Fprintf(&b, "attempts: %d\n", o.Attempts)
	}
	for _, w := range o.Warnings {
		put("warning", w.Message)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// colorCodes are what a terminal needs to show colours, and nothing a reader of
// a report would miss.
var colorCodes = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// multiline makes a text of several lines safe wherever it is shown: it loses
// its colours, and line ends and tabs are all that is left of control characters.
func multiline(text string) string {
	all := lines(colorCodes.ReplaceAllString(text, ""))
	for i, line := range all {
		all[i] = EscapeLine(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(all, "\n")
}

// unique returns a name that was not returned before. Readers drop all but the
// first case of a name.
func unique(name string, used map[string]int) string {
	used[name]++
	if n := used[name]; n > 1 {
		return unique(fmt.Sprintf("%s (%d)", name, n), used)
	}
	return name
}

// seconds writes milliseconds the way XML and metrics count time.
func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }
