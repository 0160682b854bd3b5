//go:build unix

package docs

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type gitlabJob struct {
	Rules []struct{ If string }
	Cache struct {
		Key, Policy, When string
		Paths             []string
	}
	Script      []string
	AfterScript []string `yaml:"after_script"`
}

// gitlab runs the jobs of the page's pipeline for one event.
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
}
