package render

import (
	"bytes"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	settle "github.com/settle-cm/settle/model"
)

// parseMetrics reads a file with the parser that node_exporter uses.
func parseMetrics(t *testing.T, file []byte) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	return families
}

// value returns the sample with these labels.
func value(t *testing.T, f *dto.MetricFamily, labels map[string]string) float64 {
	t.Helper()
	for _, m := range f.GetMetric() {
		found := 0
		for _, l := range m.GetLabel() {
			if want, ok := labels[l.GetName()]; ok && want == l.GetValue() {
				found++
			}
		}
		if found == len(labels) {
			if f.GetType() == dto.MetricType_COUNTER {
				return m.GetCounter().GetValue()
			}
			return m.GetGauge().GetValue()
		}
	}
	t.Fatalf("no sample of %s has %v", f.GetName(), labels)
	return 0
}

func TestMetricsCountStatuses(t *testing.T) {
	f := parseMetrics(t, Metrics([]settle.Report{applyReport(), planReport(), refusedReport()}, Options{}))
	apply := map[string]string{"manifest": "site.yaml", "mode": "apply"}
	for name, want := range map[string]float64{
		"settle_exit_code":                      130,
		"settle_run_duration_seconds":           1.9,
		"settle_last_run_timestamp_seconds":     1767323046.9,
		"settle_last_success_timestamp_seconds": 0,
		"settle_owed_refreshes":                 1,
	} {
		if got := value(t, f[name], apply); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for status, want := range map[string]float64{"changed": 4, "failed": 3, "ignored": 1, "skipped": 8, "stable": 1, "not_reached": 1} {
		if got := value(t, f["settle_resources"], map[string]string{"mode": "apply", "status": status}); got != want {
			t.Errorf("settle_resources %s is %v, want %v", status, got, want)
		}
	}
	if got := value(t, f["settle_resources"], map[string]string{"mode": "plan", "status": "may_run"}); got != 1 {
		t.Errorf("may_run is %v", got)
	}
}

// Two samples of one name and equal labels, or a timestamp, make node_exporter
// drop the whole file.
func TestMetricsHaveUniqueSamplesWithoutTimestamps(t *testing.T) {
	file := Metrics([]settle.Report{applyReport(), applyReport(), hostileReport()}, Options{})
	seen := map[string]bool{}
	for name, family := range parseMetrics(t, file) {
		if family.GetHelp() == "" || family.GetType() == dto.MetricType_UNTYPED {
			t.Errorf("%s has no HELP or no TYPE", name)
		}
		for _, m := range family.GetMetric() {
			if m.TimestampMs != nil {
				t.Errorf("%s has a timestamp", name)
			}
			if key := name + " " + m.String(); seen[key] {
				t.Errorf("twice: %s", key)
			} else {
				seen[key] = true
			}
		}
	}
}

// HELP and TYPE must not depend on the result of a run.
func TestMetricsHaveTheSameHelpInEveryFile(t *testing.T) {
	comments := func(file []byte) string {
		var b strings.Builder
		for line := range strings.Lines(string(file)) {
			if strings.HasPrefix(line, "#") {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	want := comments(Metrics([]settle.Report{applyReport()}, Options{}))
	for name, reports := range goldenReports() {
		if got := comments(Metrics(reports, Options{})); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestMetricsKeepTheLastSuccess(t *testing.T) {
	good, bad := report("plan", 2, nil), report("plan", 1, nil)
	bad.Started = good.Started.AddDate(0, 0, 1)
	other := bad
	other.Manifest = "other.yaml"
	first := Metrics([]settle.Report{good}, Options{})
	second := Metrics([]settle.Report{bad, other}, Options{Previous: first})
	third := Metrics([]settle.Report{bad, other}, Options{Previous: second})
	f := parseMetrics(t, third)
	if got := value(t, f[lastSuccess], map[string]string{"manifest": "site.yaml"}); got != 1767323046.9 {
		t.Errorf("the last success was at %v", got)
	}
	if got := value(t, f[lastSuccess], map[string]string{"manifest": "other.yaml"}); got != 0 {
		t.Errorf("a manifest that never succeeded has a success at %v", got)
	}
	if got := value(t, f["settle_exit_code"], map[string]string{"manifest": "site.yaml"}); got != 1 {
		t.Errorf("exit code %v", got)
	}
}

func TestMetricsOfTypesFollowThoseOfSettle(t *testing.T) {
	labels := []Label{{"site", "lab"}, {"manifest", "site.yaml"}}
	families := []Family{
		{Name: "choria_provisioner_helper_time", Type: "summary", Help: "How long helpers took.", Samples: []Sample{
			{Suffix: "_sum", Labels: labels, Value: 1.5}, {Suffix: "_count", Labels: labels, Value: 3},
		}},
		{Name: "choria_provisioner_provisioned", Type: "counter", Help: "Servers provisioned.", Samples: []Sample{{Labels: labels, Value: 2}}},
	}
	f := parseMetrics(t, Metrics([]settle.Report{applyReport()}, Options{Families: families}))
	if got := f["choria_provisioner_helper_time"].GetMetric()[0].GetSummary(); got.GetSampleCount() != 3 || got.GetSampleSum() != 1.5 {
		t.Errorf("%v", got)
	}
	if got := value(t, f["choria_provisioner_provisioned"], map[string]string{"site": "lab"}); got != 2 {
		t.Errorf("%v", got)
	}
}
