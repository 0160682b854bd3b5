package render

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// Family holds all samples of one metric. Help and Type of a metric must be the same
// in every file that a node_exporter collects.
type Family struct {
	Name, Help, Type string
	Samples          []Sample
}

// Sample is one value. Suffix follows the family's name (_sum, _count).
type Sample struct {
	Suffix string
	Labels []Label
	Value  float64
}

// Label is one dimension of a sample.
type Label struct{ Name, Value string }

// Labels returns the labels of every metric about a manifest. Without them the files
// of several manifests on one machine would collide.
func Labels(r *model.Report) []Label {
	return []Label{{"manifest", r.Manifest}, {"mode", r.Mode}}
}

const lastSuccess = "settle_last_success_timestamp_seconds"

// Metrics returns reports for the textfile collector of node_exporter: no timestamps,
// every family in every file. When this run had no success, the time of the last
// success is taken over from the file that is replaced (Options.Previous).
func Metrics(reports []model.Report, o Options) []byte {
	families := []Family{
		{Name: "settle_resources", Type: "gauge", Help: "Resources of the last run by status."},
		{Name: "settle_owed_refreshes", Type: "gauge", Help: "Refreshes owed when the last run was over."},
		{Name: "settle_exit_code", Type: "gauge", Help: "Exit code of the last run."},
		{Name: "settle_run_duration_seconds", Type: "gauge", Help: "How long the last run took."},
		{Name: "settle_last_run_timestamp_seconds", Type: "gauge", Help: "When the last run ended, in seconds since 1970."},
		{Name: lastSuccess, Type: "gauge", Help: "When the last run with exit code 0 or 2 ended, in seconds since 1970; 0 if none did."},
	}
	seen := map[string]bool{}
	for i := range reports {
		r := &reports[i]
		key := r.Mode + " " + r.Manifest
		if seen[key] { // the same manifest twice in one call: a sample must not occur twice
			continue
		}
		seen[key] = true
		ended := float64(r.Started.Add(time.Duration(r.DurationMS)*time.Millisecond).UnixMilli()) / 1000
		success := ended
		if r.ExitCode != 0 && r.ExitCode != 2 {
			success = previousValue(o.Previous, sampleName(lastSuccess, Labels(r)))
		}
		families[0].Samples = append(families[0].Samples, statusSamples(r)...)
		for n, value := range []float64{float64(r.Summary.Owed), float64(r.ExitCode), float64(r.DurationMS) / 1000, ended, success} {
			families[n+1].Samples = append(families[n+1].Samples, Sample{Labels: Labels(r), Value: value})
		}
	}
	return exposeFamilies(append(families, o.Families...))
}

// statusSamples counts the resources of each status of the report's mode. Zero is
// a sample too: a series that comes and goes cannot be watched.
func statusSamples(r *model.Report) []Sample {
	var samples []Sample
	add := func(status string, n int) {
		samples = append(samples, Sample{Labels: append(Labels(r), Label{"status", status}), Value: float64(n)})
	}
	checks := map[model.Status]int{} // an alert on would_run must mean that there is work
	for i := range r.Resources {
		if o := &r.Resources[i]; isDueCheck(o) {
			checks[o.Status]++
		}
	}
	for _, s := range r.Summary.Statuses() {
		add(s.String(), r.Summary.Count[s]-checks[s])
		if s == model.MayRun {
			add("check", checks[model.WouldRun]+checks[model.WouldRefresh]+checks[model.MayRun])
		}
		if s == model.Failed {
			add("ignored", r.Summary.Ignored)
		}
	}
	return samples
}

// exposeFamilies returns families in the text format of Prometheus, version 0.0.4.
func exposeFamilies(families []Family) []byte {
	var b bytes.Buffer
	for _, f := range families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.Name, f.Help, f.Name, f.Type)
		for _, s := range f.Samples {
			fmt.Fprintf(&b, "%s %s\n", sampleName(f.Name+s.Suffix, s.Labels), strconv.FormatFloat(s.Value, 'f', -1, 64))
		}
	}
	return b.Bytes()
}

func sampleName(name string, labels []Label) string {
	var b strings.Builder
	b.WriteString(name)
	for i, l := range labels {
		fmt.Fprintf(&b, `%s%s="%s"`, map[bool]string{true: "{", false: ","}[i == 0], l.Name, escapeLabel(Escape(l.Value)))
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	return b.String()
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace

// previousValue returns the value of a sample in a file, 0 when the file has none.
func previousValue(file []byte, sample string) float64 {
	for line := range strings.Lines(string(file)) {
		if text, ok := strings.CutPrefix(line, sample+" "); ok {
			if value, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
				return value
			}
		}
	}
	return 0
}
