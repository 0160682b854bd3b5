//go:build unix

package docs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var expression = regexp.MustCompile(`\$\{\{ *([^} ]+) *\}\}`)

// expand puts values in the place of GitHub's expressions.
func (p *pipelineRun) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		return p.value(expression.FindStringSubmatch(e)[1])
	})
}

type githubStep struct {
	ID, If, Uses, Run, Shell string
	Env, With                map[string]string
}

type githubFlow struct {
	Jobs map[string]struct {
		If    string
		Steps []githubStep
	}
}

type githubAction struct {
	Inputs map[string]struct {
		Description, Default string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []githubStep
	}
}

// steps runs steps in turn: after a failure only those that always run.
func (p *pipelineRun) steps(steps []githubStep) {
	p.t.Helper()
	for i, s := range steps {
		if s.If == "" && p.failed || s.If != "" && (!p.holds(s.If) || p.failed && !strings.Contains(s.If, "always()")) {
			continue
		}
		with := map[string]string{}
		for name, value := range s.With {
			with[name] = p.expand(value)
		}
		name, _, pinned := strings.Cut(s.Uses, "@")
		switch {
		case s.Run != "":
			p.step(s, i)
		case name == "settle-cm/settle":
			p.action(s.ID, with)
		case !pinned || !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(s.Uses):
			p.t.Errorf("%s is not pinned by its hash", s.Uses)
		case name == "actions/cache/restore":
			p.restore(with["key"], with["restore-keys"], with["path"])
		case name == "actions/cache/save":
			p.save(with["key"], with["path"])
		case name != "actions/checkout" && name != "actions/upload-artifact" && name != "actions/setup-go":
			p.t.Errorf("nobody plays %s", s.Uses)
		}
	}
}

// step runs a script the way GitHub does, with the files that it names.
func (p *pipelineRun) step(s githubStep, i int) {
	p.t.Helper()
	action, err := filepath.Abs(top)
	p.must(err)
	output := filepath.Join(p.dir, fmt.Sprintf("output-%d-%s", i, s.ID))
	p.must(os.WriteFile(output, nil, 0o600))
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": p.work, "GITHUB_OUTPUT": output,
		"GITHUB_STEP_SUMMARY": filepath.Join(p.dir, "summary"), "GITHUB_PATH": output + ".path", "GITHUB_ACTION_PATH": action,
	}
	for name, value := range s.Env {
		env[name] = p.expand(value)
	}
	if err := p.run(p.expand(s.Run), env); err != nil {
		p.failed = true
	}
	if dir, err := os.ReadFile(output + ".path"); err == nil {
		p.path = strings.TrimSpace(string(dir)) + ":" + p.path
	}
	text, err := os.ReadFile(output)
	p.must(err)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		p.outputs[s.ID+"."+name] = value
	}
}

// action runs our own action.yml.
func (p *pipelineRun) action(id string, with map[string]string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "action.yml"))
	p.must(err)
	var a githubAction
	decode(p.t, text, &a)
	if a.Runs.Using != "composite" {
		p.t.Fatalf("the action is %q", a.Runs.Using)
	}
	outside, outer := p.vars, p.outputs
	p.vars, p.outputs = maps.Clone(outside), map[string]string{}
	for name, input := range a.Inputs {
		value, given := with[name]
		if !given {
			value = input.Default
		}
		p.vars["inputs."+name] = value
	}
	for name := range with {
		if _, known := a.Inputs[name]; !known {
			p.t.Errorf("the action has no input %s", name)
		}
	}
	p.steps(a.Runs.Steps)
	for name, output := range a.Outputs {
		outer[id+"."+name] = p.expand(output.Value)
	}
	p.vars, p.outputs = outside, outer
}

// github runs the jobs of the page's workflow for one event.
func (p *pipelineRun) github(flow githubFlow, number int, vars map[string]string) (ran string) {
	p.t.Helper()
	vars["github.run_id"], vars["github.run_attempt"], vars["github.repository"] = fmt.Sprint(number), "1", "o/r"
	vars["github.token"], vars["github.action_path"] = "t0k3n", top
	for _, name := range []string{"fork", "plan", "apply"} {
		p.vars = vars
		if p.holds(flow.Jobs[name].If) {
			p.job(vars)
			p.steps(flow.Jobs[name].Steps)
			ran += name
		}
	}
	return ran
}

func TestGitHubPipeline(t *testing.T) {
	var flow githubFlow
	decode(t, block(t, "# .github/workflows/settle.yml"), &flow)
	p := newPipelineRun(t)
	request := map[string]string{"github.event_name": "pull_request", "github.event.number": "7"}
	fork := maps.Clone(request)
	fork["github.event.pull_request.head.repo.fork"] = "true"
	push := map[string]string{"github.event_name": "push"}

	if ran := p.github(flow, 1, fork); ran != "fork" || p.failed {
		t.Fatalf("a fork's request ran %q, failed %v\n%s", ran, p.failed, &p.log)
	}
	p.untouched("a fork's request")
	if ran := p.github(flow, 2, maps.Clone(request)); ran != "plan" || p.failed {
		t.Fatalf("a request ran %q, failed %v\n%s", ran, p.failed, &p.log)
	}
	if p.outputs["plan.pending"] != "2" || p.outputs["plan.has_changes"] != "true" {
		t.Errorf("the outputs are %v", p.outputs)
	}
	p.comment("checkout/plan.md", "gh api repos/o/r/issues/7/comments -F body=@plan.md")
	p.github(flow, 3, maps.Clone(request))
	p.comment("checkout/plan.md", "gh api -X PATCH https://api.github.com/comments/1 -F body=@plan.md")
	p.deploys(func() { p.github(flow, 4, maps.Clone(push)) }, func() { p.github(flow, 5, maps.Clone(push)) })
	if !strings.Contains(p.text("summary"), "<!-- settle:site -->") {
		t.Error("the job has no summary")
	}
	for _, name := range []string{"settle.html", "settle.xml"} {
		if p.text("checkout/"+name) == "" {
			t.Errorf("%s was not written", name)
		}
	}
}
