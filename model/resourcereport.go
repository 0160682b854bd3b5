package model

import "slices"

// ResourceReport is the resource object of a report. All of its texts are
// redacted.
type ResourceReport struct {
	Declaration
	Status       Status        `json:"status"`
	Action       Action        `json:"action,omitempty"`
	Ignored      bool          `json:"ignored"`
	Reason       string        `json:"reason"` // never holds a duration or a time of this run
	RefreshedBy  []string      `json:"refreshed_by"`
	RootCause    string        `json:"root_cause"` // id of the failure that a skip goes back to
	Command      string        `json:"command"`
	Cwd          string        `json:"cwd"`
	Guards       []GuardResult `json:"guards"`
	Exit         *int          `json:"exit"`
	Signal       string        `json:"signal"`
	Attempts     int           `json:"attempts"`
	DurationMS   int64         `json:"duration_ms"`
	Output       string        `json:"output"`
	Truncated    bool          `json:"output_truncated"`
	Diff         string        `json:"diff"`
	Warnings     []Problem     `json:"warnings"`
	Values       []ValueUse    `json:"values,omitempty"` // that were put into the resource
	Presentation `json:"-"`
}

// Declaration is the part of a resource object that comes from the manifest alone.
type Declaration struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Name        string   `json:"name"`
	Alias       string   `json:"alias"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Pos
}

// Presentation holds what the text formats need beside the JSON object.
type Presentation struct {
	Expects string // what counts as success, e.g. "returns 0"
	Quiet   bool   // text formats leave its output out
}

// redacted replaces a text that must not be shown.
const redacted = "***"

// NewResourceReport joins the declaration of a resource with its result. redact
// removes secrets from a text; nil leaves texts unchanged.
func NewResourceReport(r *Resource, result *Result, redact func(string) string) ResourceReport {
	about := r.Spec.About()
	report := ResourceReport{
		Declaration: Declaration{
			ID: result.ID, Type: r.Type, Name: r.Name, Alias: r.Alias, Description: r.Description, Tags: orEmpty(r.Tags), Pos: r.Pos,
		},
		Status: result.Status, Action: result.Action, Ignored: result.Ignored, Reason: result.Reason, RefreshedBy: orEmpty(result.RefreshedBy),
		RootCause: result.RootCause, Command: about.Command, Cwd: about.Cwd, Guards: append([]GuardResult{}, result.Guards...),
		Exit: result.Exit, Signal: result.Signal, Attempts: result.Attempts, DurationMS: result.Duration.Milliseconds(),
		Output: result.Output, Truncated: result.Truncated, Diff: result.Diff, Warnings: []Problem{}, Values: r.Values,
		Presentation: Presentation{Expects: about.Expects, Quiet: about.Quiet},
	}
	if about.Check {
		report.Action = ActionCheck
	}
	for _, warning := range result.Warnings {
		report.Warnings = append(report.Warnings, Problem{Pos: r.Pos, ID: result.ID, Message: warning})
	}
	if r.Sensitive {
		report.redactAll()
	}
	if redact != nil {
		report.redactSecrets(redact)
	}
	return report
}

// NewResourceReports is NewResourceReport for each resource of a manifest, in
// its order.
func NewResourceReports(m *Manifest, results []Result, redact func(string) string) []ResourceReport {
	reports := make([]ResourceReport, len(results))
	for i := range results {
		reports[i] = NewResourceReport(&m.Resources[i], &results[i], redact)
	}
	return reports
}

// redactAll replaces the texts of a sensitive resource.
func (r *ResourceReport) redactAll() {
	for _, text := range []*string{&r.Command, &r.Output, &r.Diff} {
		if *text != "" {
			*text = redacted
		}
	}
	for i := range r.Guards {
		r.Guards[i].Command = redacted
	}
}

func (r *ResourceReport) redactSecrets(redact func(string) string) {
	for _, text := range []*string{&r.Description, &r.Reason, &r.Command, &r.Cwd, &r.Output} {
		*text = redact(*text)
	}
	r.Diff = redactDiff(r.Diff, redact)
	for i := range r.Guards {
		r.Guards[i].Command = redact(r.Guards[i].Command)
	}
	for i := range r.Warnings {
		r.Warnings[i].Message = redact(r.Warnings[i].Message)
	}
	r.Values = slices.Clone(r.Values) // they belong to the resource
	for i := range r.Values {
		v := &r.Values[i]
		v.Expression, v.Value = redact(v.Expression), redact(v.Value) // a default is written in the expression
	}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
