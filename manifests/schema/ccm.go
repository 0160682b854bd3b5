package schema

import "fmt"

// ccmOnly holds keys, properties and types of CCM that settle lacks, with the way
// in which settle does the same where there is one. They are refused by name:
// a manifest that is only half understood would be worse.
var ccmOnly = map[string]string{
	"data":                 "data stands beside ccm:, at the top of a CCM manifest; other manifests have vars",
	"hierarchy":            "hierarchy stands beside ccm:, at the top of the manifest",
	"overrides":            "overrides stands beside ccm:, at the top of the manifest",
	"resources_jet_file":   "for_each makes a resource for each item of a list",
	"health_checks":        "an exec with unchanged: true that requires the resource is a check",
	"apply":                "without ccm: include names files whose resources belong to the manifest",
	"register_when_stable": "an exec that subscribes to the resource can tell others of it",
	"package":              "", "service": "", "archive": "", "scaffold": "", "file": "",
}

// ccmRejected holds those of them that settle will not get.
var ccmRejected = map[string]bool{"data": true, "hierarchy": true, "overrides": true, "resources_jet_file": true, "apply": true}

// UnsupportedCCM describes a word of CCM that settle lacks; kind stands before it
// in the message. It returns false for a word that CCM does not have either.
func UnsupportedCCM(word, kind string) (Unknown, bool) {
	way, ok := ccmOnly[word]
	if !ok {
		return Unknown{}, false
	}
	yet := " yet"
	if ccmRejected[word] {
		yet = ""
	}
	return Unknown{Message: fmt.Sprintf("settle has no %s%q%s", kind, word, yet), Suggestion: way}, true
}
