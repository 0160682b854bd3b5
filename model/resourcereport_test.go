package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

type declared struct{ about model.About }

func (d declared) About() model.About { return d.about }

func (declared) Check(context.Context, model.Ask) (model.Decision, error) {
	return model.Decision{}, nil
}

func (declared) Run(context.Context, model.Stage) (model.Effect, error) { return model.Effect{}, nil }

// Every text of a report is redacted, whether the resource declares it or the
// run produced it.
func TestReportRedactsSecretsInEveryText(t *testing.T) {
	const secret = "hunter2"
	resource := model.Resource{
		Ref: model.Ref{Type: "exec", Name: "a"}, Description: secret, Values: []model.ValueUse{{Expression: secret, Value: secret}},
		Spec: declared{model.About{Command: secret, Cwd: secret}},
	}
	result := model.Result{
		ID: "exec#a", Reason: secret, Guards: []model.GuardResult{{Command: secret}}, ProcessEnd: model.ProcessEnd{Output: secret}, Diff: secret, Warnings: []string{secret},
	}
	redact := func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	text, err := json.Marshal(model.NewResourceReport(&resource, &result, redact))
	if err != nil || strings.Contains(string(text), secret) || strings.Count(string(text), "***") != 10 {
		t.Errorf("%v: %s", err, text)
	}
	if resource.Values[0].Value != secret || result.Guards[0].Command != secret {
		t.Error("the resource or its result was changed")
	}
}

func TestReportOfSensitiveResourceShowsNoCommandOutputOrDiff(t *testing.T) {
	resource := model.Resource{Ref: model.Ref{Type: "exec", Name: "a"}, Sensitive: true, Spec: declared{model.About{Command: "run hunter2"}}}
	result := model.Result{ID: "exec#a", Guards: []model.GuardResult{{Command: "hunter2"}}, ProcessEnd: model.ProcessEnd{Output: "hunter2"}, Diff: "hunter2"}
	text, err := json.Marshal(model.NewResourceReport(&resource, &result, nil))
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestReportHasEmptyListsAndMilliseconds(t *testing.T) {
	resource := model.Resource{Ref: model.Ref{Type: "exec", Name: "a"}, Spec: declared{}}
	text, err := json.Marshal(model.NewResourceReport(&resource, &model.Result{ID: "exec#a", Duration: 1500 * time.Millisecond}, nil))
	if err != nil || strings.Contains(string(text), `:null`) && strings.Count(string(text), `:null`) != 1 || !strings.Contains(string(text), `"duration_ms":1500`) {
		t.Errorf("%v: %s", err, text) // only exit is null
	}
}
