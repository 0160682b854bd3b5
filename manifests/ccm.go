package manifests

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model/condition"
)

// Of what CCM has beyond resources nothing is taken over by half: it is refused
// by name, with the way in which settle does it.

// ccmOnly are keys, properties and types that CCM has and settle has not, with
// what to do instead where there is something.
var ccmOnly = map[string]string{
	"data":               "without ccm: declare its keys under vars, and write ${var.NAME} for lookup('data.NAME')",
	"hierarchy":          "a --var-file says which values hold on a machine, and when says it of a resource",
	"overrides":          "write each into a file of its own, and give the one that holds by --var-file",
	"resources_jet_file": "for_each makes a resource for each item of a list",
	"health_checks":      "an exec with unchanged: true that requires the resource is a check",
	"apply":              "include names files whose resources belong to the manifest", "register_when_stable": "",
	"package": "", "service": "", "archive": "", "scaffold": "", "file": "",
}

// never are those of them that settle will not have.
var never = map[string]bool{"data": true, "hierarchy": true, "overrides": true, "resources_jet_file": true, "apply": true}

// notYet refuses what CCM has and settle has not. It returns false when CCM
// does not have it either.
func (l *loader) notYet(key *yaml.Node, what string) bool {
	way, ok := ccmOnly[key.Value]
	switch {
	case !ok:
		return false
	case never[key.Value]:
		l.refuse(key, fmt.Sprintf("settle has no %s%q", what, key.Value), way)
	default:
		l.refuse(key, fmt.Sprintf("settle has no %s%q yet", what, key.Value), way)
	}
	return true
}

// ccmExpression is what CCM replaces in a manifest before it reads it.
var ccmExpression = regexp.MustCompile(`(?s)\{\{.*\}\}|\$\{[^}]*\blookup\b[^}]*\}`)

var (
	ccmLookup = lazily(`^(?:\{\{|\$\{)\s*lookup\(\s*["']([^"']+)["']\s*(?:,\s*["']?([^"')}]*?)["']?\s*)?\)\s*\}\}?$`)
	ccmPath   = lazily(`^\{\{\s*((?:Data|Facts|Environ)\.[\w.]+)\s*\}\}$`)
)

// ccmWay says how settle writes an expression of CCM's.
func ccmWay(expression string) string {
	path, fallback := "", ""
	if m := ccmLookup().FindStringSubmatch(expression); m != nil {
		path, fallback = m[1], m[2]
	} else if m := ccmPath().FindStringSubmatch(expression); m != nil {
		path = m[1]
	}
	ours := condition.FromCCM(path)
	if fallback != "" {
		fallback = ":-" + fallback
	}
	switch name, isVar := strings.CutPrefix(ours, "var."); {
	case ours == "":
		return "write the value itself"
	case isVar:
		name, _, _ = strings.Cut(name, ".")
		return fmt.Sprintf("without ccm: declare %s under vars, and write ${%s%s}", name, ours, fallback)
	}
	return fmt.Sprintf("write ${%s%s}", ours, fallback)
}
