package manifests

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model/condition"
)

// ccmExpression is what CCM replaces in a manifest before it reads it.
var ccmExpression = regexp.MustCompile(`(?s)\{\{.*\}\}|\$\{[^}]*\blookup\b[^}]*\}`)

var (
	ccmLookup = entry.Pattern(`^(?:\{\{|\$\{)\s*lookup\(\s*["']([^"']+)["']\s*(?:,\s*["']?([^"')}]*?)["']?\s*)?\)\s*\}\}?$`)
	ccmPath   = entry.Pattern(`^\{\{\s*((?:Data|Facts|Environ)\.[\w.]+)\s*\}\}$`)
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
