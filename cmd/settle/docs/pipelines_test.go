//go:build unix

package docs

import (
	"bytes"
	"errors"
	"fmt"
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

// The pipelines of docs/pipelines.md are run here as they stand there: their jobs are
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
	path    string            // directories that a step has put before PATH, each with its colon
	system  string            // the PATH that the runner has
	env     []string          // of the whole workflow
	failed  bool
	log     bytes.Buffer
}

func newPipelineRun(t *testing.T) *pipelineRun {
	t.Helper()
	p := &pipelineRun{t: t, dir: t.TempDir(), caches: map[string]string{}, system: os.Getenv("PATH")}
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
	p.vars, p.outputs, p.failed, p.path = vars, map[string]string{}, false, ""
	p.log.Reset()
}

// run runs a script as both systems do: it ends at the first command that fails.
func (p *pipelineRun) run(script string, env map[string]string) error {
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = p.work
	cmd.Env = []string{
		"PATH=" + p.path + filepath.Join(p.dir, "bin") + ":" + p.system, "HOME=" + filepath.Join(p.dir, "home"),
		"RUNNER_TEMP=" + filepath.Join(p.dir, "tmp"), "CI=true", "TERM=dumb",
	}
	cmd.Env = append(cmd.Env, p.env...)
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

// block returns the code block of docs/pipelines.md that begins with a line.
func block(t *testing.T, first string) []byte {
	t.Helper()
	text, err := os.ReadFile("pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```yaml\n"+first+"\n")
	body, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("docs/pipelines.md has no block %q", first)
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
