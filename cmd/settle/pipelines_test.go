//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
)

// The pipelines of the README are run here as they stand there: their jobs are
// chosen by their own conditions, and their scripts run with the variables that
// GitHub and GitLab set. What is theirs and not ours (a checkout, a cache, an
// API) is played by a few lines.

// site is a deployment that cannot reload at first: what it owes has to reach
// the next job. Its guard leaves a trace, so that nobody runs it unseen.
const site = `name: site
resources:
  - exec:
      - unpack: {command: touch ../machine/app, creates: ../machine/app, unless: "touch ../machine/guarded-and-no /nowhere/at/all"}
      - reload: {provider: shell, command: "test -e ../machine/up && echo reloaded >>../machine/log", refreshonly: true, subscribe: exec#unpack}
`

// pipelineRun is one repository with its CI system, from job to job.
type pipelineRun struct {
	t       *testing.T
	dir     string            // of everything
	work    string            // the checkout of the job
	vars    map[string]string // what expressions and scripts see
	outputs map[string]string // of steps: id.name
	caches  map[string]string // key to directory
	failed  bool
	log     bytes.Buffer
}

func newPipelineRun(t *testing.T) *pipelineRun {
	p := &pipelineRun{t: t, dir: t.TempDir(), caches: map[string]string{}}
	for _, dir := range []string{"machine", "bin", "home", "tmp"} {
		p.must(os.Mkdir(filepath.Join(p.dir, dir), 0o700))
	}
	// gh and curl write down what they were asked, and gh knows what it was told.
	p.put("bin/gh", `#!/bin/sh
echo "gh $*" >>"`+p.dir+`/asked"
case "$*" in *--jq*) cat "`+p.dir+`/comments" 2>/dev/null || true;; *) echo https://api.github.com/comments/1 >"`+p.dir+`/comments";; esac
`, 0o700)
	p.put("bin/curl", "#!/bin/sh\necho \"curl $*\" >>\""+p.dir+"/asked\"\n", 0o700)
	return p
}

func (p *pipelineRun) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipelineRun) put(name, text string, mode os.FileMode) {
	p.t.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, name), []byte(text), mode))
}

func (p *pipelineRun) text(name string) string {
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// job begins with an empty checkout on a fresh runner: only the machine that is
// deployed to, and the caches, are what they were.
func (p *pipelineRun) job(vars map[string]string) {
	p.t.Helper()
	p.work = filepath.Join(p.dir, "checkout")
	p.must(os.RemoveAll(p.work))
	p.must(os.Mkdir(p.work, 0o700))
	p.put("checkout/settle.yaml", site, 0o600)
	p.vars, p.outputs, p.failed = vars, map[string]string{}, false
	p.log.Reset()
}

// run runs a script as both systems do: it ends at the first command that fails.
func (p *pipelineRun) run(script string, env map[string]string) error {
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = p.work
	cmd.Env = []string{
		"PATH=" + filepath.Join(p.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.dir, "home"),
		"RUNNER_TEMP=" + filepath.Join(p.dir, "tmp"), "CI=true", "TERM=dumb",
	}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	fmt.Fprintf(&p.log, "$ %s\n", script)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	return cmd.Run()
}

// save and restore are a cache: whole directories by key, the newest of a prefix.
func (p *pipelineRun) save(key, path string) {
	p.t.Helper()
	from := filepath.Join(p.work, path)
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return
	}
	to := filepath.Join(p.dir, "cache-"+fmt.Sprint(len(p.caches)))
	p.must(exec.Command("cp", "-a", from, to).Run())
	p.caches[key], p.caches["newest"] = to, to
}

func (p *pipelineRun) restore(key, prefix, path string) {
	p.t.Helper()
	from := p.caches[key]
	if newest := p.caches["newest"]; from == "" && prefix != "" {
		from = newest
	}
	if from != "" {
		p.must(exec.Command("cp", "-a", from, filepath.Join(p.work, path)).Run())
	}
}

// block returns the code block of the README that begins with a line.
func block(t *testing.T, first string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```yaml\n"+first+"\n")
	body, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("the README has no block %q", first)
	}
	return []byte(body)
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// holds decides a condition of either system: terms joined by &&, each a
// comparison or a value, perhaps denied.
func (p *pipelineRun) holds(condition string) bool {
	for _, term := range strings.Split(condition, "&&") {
		term = strings.TrimSpace(term)
		left, right, equal := strings.Cut(term, " == ")
		if !equal {
			left, right, equal = strings.Cut(term, " != ")
			equal = !equal
		}
		var is bool
		switch {
		case right != "":
			is = (p.value(left) == p.value(right)) == equal
		case strings.HasPrefix(term, "!"):
			is = p.value(term[1:]) == ""
		default:
			is = p.value(term) != ""
		}
		if !is {
			return false
		}
	}
	return true
}

// value is a quoted text, or what a name stands for: "" when it is false or unknown.
func (p *pipelineRun) value(name string) string {
	name = strings.TrimPrefix(strings.TrimSpace(name), "$")
	if text, ok := strings.CutPrefix(name, "'"); ok {
		return strings.TrimSuffix(text, "'")
	}
	switch {
	case name == "always()":
		return "true"
	case strings.HasPrefix(name, "steps."):
		return p.outputs[strings.Replace(strings.TrimPrefix(name, "steps."), ".outputs.", ".", 1)]
	}
	return p.vars[name]
}

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
	output := filepath.Join(p.dir, fmt.Sprintf("output-%d-%s", i, s.ID))
	p.must(os.WriteFile(output, nil, 0o600))
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": p.work, "GITHUB_OUTPUT": output,
		"GITHUB_STEP_SUMMARY": filepath.Join(p.dir, "summary"),
	}
	for name, value := range s.Env {
		env[name] = p.expand(value)
	}
	if err := p.run(p.expand(s.Run), env); err != nil {
		p.failed = true
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

// github runs the jobs of the README's workflow for one event.
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

// untouched holds after what must not run anything.
func (p *pipelineRun) untouched(who string) {
	p.t.Helper()
	for _, name := range []string{"machine/app", "machine/guarded-and-no", "machine/log"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			p.t.Errorf("%s made %s", who, name)
		}
	}
	if strings.Contains(p.log.String(), "unless:") {
		p.t.Errorf("%s read a guard:\n%s", who, &p.log)
	}
}

// comment is what a request gets: the plan, small enough, and told once.
func (p *pipelineRun) comment(file, asked string) {
	p.t.Helper()
	plan := p.text(file)
	if !strings.HasPrefix(plan, "<!-- settle:site -->\n") || !strings.Contains(plan, "exec#unpack") || len(plan) > 60_000 {
		p.t.Errorf("the comment is\n%s", plan)
	}
	if !strings.Contains(p.text("asked"), asked) {
		p.t.Errorf("the API was asked\n%s, not\n%s", p.text("asked"), asked)
	}
}

// deploys applies twice: the first time the reload fails, and is owed; the
// second job, on a fresh runner, knows.
func (p *pipelineRun) deploys(first, second func()) {
	p.t.Helper()
	first()
	if !p.failed || p.text("machine/log") != "" {
		p.t.Fatalf("the first apply did not fail:\n%s", &p.log)
	}
	p.put("machine/up", "", 0o600)
	second()
	if p.failed || p.text("machine/log") != "reloaded\n" {
		p.t.Fatalf("the second apply does not know what the first left owed:\n%s", &p.log)
	}
}

type gitlabJob struct {
	Rules []struct{ If string }
	Cache struct {
		Key, Policy, When string
		Paths             []string
	}
	Script      []string
	AfterScript []string `yaml:"after_script"`
}

// gitlab runs the jobs of the README's pipeline for one event.
func (p *pipelineRun) gitlab(jobs map[string]yaml.Node, vars map[string]string) (ran string) {
	p.t.Helper()
	vars["CI_PROJECT_ID"], vars["CI_DEFAULT_BRANCH"], vars["CI_API_V4_URL"], vars["GITLAB_CI"] = "1", "main", "https://gitlab/api/v4", "true"
	vars["CI_PROJECT_DIR"] = filepath.Join(p.dir, "checkout")
	var global map[string]string
	node := jobs["variables"]
	p.must(node.Decode(&global))
	env := maps.Clone(vars)
	for name, value := range global {
		env[name] = os.Expand(value, func(v string) string { return vars[v] })
	}
	for _, name := range []string{"fork", "plan", "apply"} {
		var job gitlabJob
		node := jobs[name]
		p.must(node.Decode(&job))
		p.vars = vars
		if !p.holds(job.Rules[0].If) {
			continue
		}
		ran += name
		p.job(vars)
		for _, path := range job.Cache.Paths {
			p.restore(job.Cache.Key, "", path)
		}
		p.failed = p.run(strings.Join(job.Script, "\n"), env) != nil
		if len(job.AfterScript) > 0 {
			p.must(p.run(strings.Join(job.AfterScript, "\n"), env))
		}
		if job.Cache.Policy != "pull" && (!p.failed || job.Cache.When == "always") {
			for _, path := range job.Cache.Paths {
				p.save(job.Cache.Key, path)
			}
		}
	}
	return ran
}

func TestGitLabPipeline(t *testing.T) {
	var jobs map[string]yaml.Node
	decode(t, block(t, "# .gitlab-ci.yml"), &jobs)
	p := newPipelineRun(t)
	request := map[string]string{"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1"}
	fork := map[string]string{"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"}
	push := map[string]string{"CI_COMMIT_BRANCH": "main"}

	if ran := p.gitlab(jobs, fork); ran != "fork" || p.failed {
		t.Fatalf("a fork's request ran %q, failed %v\n%s", ran, p.failed, &p.log)
	}
	p.untouched("a fork's request")
	if ran := p.gitlab(jobs, request); ran != "plan" || p.failed {
		t.Fatalf("a request ran %q, failed %v\n%s", ran, p.failed, &p.log)
	}
	p.comment("checkout/plan.md", "body@plan.md https://gitlab/api/v4/projects/1/merge_requests/7/notes")
	p.deploys(func() { p.gitlab(jobs, push) }, func() { p.gitlab(jobs, push) })
	if !strings.Contains(p.log.String(), "section_start:") && strings.Contains(p.log.String(), "log |") {
		t.Errorf("the log has no sections:\n%s", &p.log)
	}
}

// What the rules for Prometheus look at has to be in the files.
func TestAlertsLookAtWhatIsThere(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	decode(t, block(t, "# rules for Prometheus"), &rules)
	file := string(render.Metrics([]model.Report{{Mode: "plan", Manifest: "/etc/settle/site.yaml"}}, render.Options{}))
	metric := regexp.MustCompile(`settle_[a-z_]+`)
	n := 0
	for _, rule := range rules.Groups[0].Rules {
		for _, name := range metric.FindAllString(rule.Expr, -1) {
			n++
			if !strings.Contains(file, "# TYPE "+name+" gauge\n") {
				t.Errorf("%s looks at %s, which is not written", rule.Alert, name)
			}
		}
	}
	if n < 3 {
		t.Errorf("only %d metrics are looked at", n)
	}
}
