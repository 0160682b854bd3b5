package model_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

func TestDecide(t *testing.T) {
	const there, gone, dark = "/there", "/gone", "/dark"
	yes, no := "exit 0", "exit 1"
	guard := func(property, command string) model.Guard { return model.Guard{Property: property, Command: command} }
	refreshed := model.Ask{Refresh: model.Yes, RefreshedBy: []string{"exec#p"}}
	unfinished := model.Ask{ID: "exec#x", Unfinished: "r1"}
	tests := []struct {
		name   string
		cond   model.Guards
		ask    model.Ask
		act    bool
		reason string
		read   []string
		err    string
	}{
		{name: "6: nothing says it is done", act: true, reason: "runs every time"},
		{name: "2: a refresh runs it", ask: refreshed, act: true, reason: "refreshed by exec#p"},
		{name: "2: whatever creates and guards say", cond: model.Guards{Creates: []string{there}, Commands: []model.Guard{guard("unless", yes)}}, ask: refreshed, act: true, reason: "refreshed by exec#p"},
		{name: "2: also when creates cannot be read", cond: model.Guards{Creates: []string{dark}}, ask: refreshed, act: true, reason: "refreshed by exec#p"},
		{name: "2: owed from an earlier run", ask: model.Ask{Refresh: model.Yes, Owed: []model.OwedRefresh{{By: "exec#p", Since: "r1"}}}, act: true, reason: "refresh owed by exec#p since run r1"},
		{name: "2: a refresh that may come is none", cond: model.Guards{RefreshOnly: true}, ask: model.Ask{Refresh: model.Maybe}, reason: "refreshonly"},
		{name: "2: check makes it only due", cond: model.Guards{OnRefresh: model.RefreshChecks, Creates: []string{there}}, ask: refreshed, reason: "creates /there exists", read: []string{"creates"}},
		{name: "2: check leaves out row 4", cond: model.Guards{OnRefresh: model.RefreshChecks, RefreshOnly: true}, ask: refreshed, act: true, reason: "refreshed by exec#p"},
		{name: "2: check asks the guards", cond: model.Guards{OnRefresh: model.RefreshChecks, RefreshOnly: true, Commands: []model.Guard{guard("onlyif", no)}}, ask: refreshed, reason: "onlyif exit 1", read: []string{"onlyif"}},
		{name: "3: creates is there", cond: model.Guards{Creates: []string{there}}, reason: "creates /there exists", read: []string{"creates"}},
		{name: "3: all of several", cond: model.Guards{Creates: []string{there, there, there}}, reason: "creates /there and 2 more exist", read: []string{"creates"}},
		{name: "3: one of several is missing", cond: model.Guards{Creates: []string{there, gone}}, act: true, reason: "creates /gone is missing", read: []string{"creates"}},
		{name: "3: an unfinished attempt is no success", cond: model.Guards{Creates: []string{there}}, ask: unfinished, act: true, reason: "creates /there appeared although the command failed in run r1: it runs again; `settle forget exec#x` keeps it as it is"},
		{name: "3: but guards decide after it", cond: model.Guards{Creates: []string{there}, Commands: []model.Guard{guard("unless", yes)}}, ask: unfinished, reason: "unless exit 0", read: []string{"unless"}},
		{name: "3: cannot be read", cond: model.Guards{Creates: []string{dark}}, err: "permission denied", read: []string{"creates"}},
		{name: "3 before 4", cond: model.Guards{Creates: []string{there}, RefreshOnly: true}, reason: "creates /there exists", read: []string{"creates"}},
		{name: "4: refreshonly, whatever is missing", cond: model.Guards{Creates: []string{gone}, RefreshOnly: true}, reason: "refreshonly"},
		{name: "4 before 5: no guard is read", cond: model.Guards{RefreshOnly: true, Commands: []model.Guard{guard("onlyif", "error")}}, reason: "refreshonly"},
		{name: "5: onlyif no", cond: model.Guards{Commands: []model.Guard{guard("onlyif", yes), guard("onlyif", no), guard("unless", "error")}}, reason: "onlyif exit 1", read: []string{"onlyif", "onlyif"}},
		{name: "5: unless no", cond: model.Guards{Commands: []model.Guard{guard("unless", yes)}}, reason: "unless exit 0", read: []string{"unless"}},
		{name: "5: a guard error is neither", cond: model.Guards{Commands: []model.Guard{guard("unless", "error")}}, err: "unless: timed out after 5m0s", read: []string{"unless"}},
		{name: "6: all guards say yes", cond: model.Guards{Commands: []model.Guard{guard("onlyif", yes), guard("unless", no)}}, act: true, reason: "onlyif exit 0, unless exit 1", read: []string{"onlyif", "unless"}},
		{name: "6: creates is missing and guards say yes", cond: model.Guards{Creates: []string{gone}, Commands: []model.Guard{guard("unless", no)}}, act: true, reason: "creates /gone is missing", read: []string{"creates", "unless"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.cond
			c.Exists = func(path string) (bool, string, error) {
				if path == dark {
					return false, "", errors.New("permission denied")
				}
				return path == there, "", nil
			}
			c.RunGuard = func(_ context.Context, g model.Guard) (int, error) {
				switch g.Command {
				case yes:
					return 0, nil
				case no:
					return 1, nil
				}
				return 0, errors.New("timed out after 5m0s")
			}
			d, err := c.Decide(t.Context(), tt.ask)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.err || err == nil && (d.Act != tt.act || d.Reason != tt.reason) {
				t.Errorf("act %v, reason %q, error %q", d.Act, d.Reason, got)
			}
			if diff := cmp.Diff(tt.read, d.Read); diff != "" {
				t.Errorf("read:\n%s", diff)
			}
		})
	}
}

func TestDecideUnread(t *testing.T) {
	c := model.Guards{
		Commands: []model.Guard{{Property: "onlyif"}, {Property: "onlyif"}, {Property: "unless"}},
		RunGuard: func(context.Context, model.Guard) (int, error) {
			t.Error("a guard was read")
			return 0, nil
		},
	}
	d, err := c.Decide(t.Context(), model.Ask{SkipGuards: true})
	if diff := cmp.Diff([]string{"onlyif", "unless"}, d.Unread); err != nil || diff != "" || !d.Act {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestParseRef(t *testing.T) {
	for text, want := range map[string]model.Ref{
		"exec#reload": {Type: "exec", Name: "reload"}, "exec#a#b": {Type: "exec", Name: "a#b"},
		"exec##": {Type: "exec", Name: "#"}, "exec#echo a, b": {Type: "exec", Name: "echo a, b"},
	} {
		if got, ok := model.ParseRef(text); !ok || got != want || got.String() != text {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "exec", "exec#", "#x", "#"} {
		if ref, ok := model.ParseRef(text); ok {
			t.Errorf("%q is %+v", text, ref)
		}
	}
}
