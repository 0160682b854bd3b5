package condition

import (
	"slices"
	"strings"
)

// ccmFacts maps the names of CCM's facts to those of settle.
var ccmFacts = map[string]string{
	"host.info.os": "host.os", "host.info.platformFamily": "host.family", "host.info.platform": "host.distribution", "host.info.platformVersion": "host.version",
	"host.info.kernelArch": "host.arch", "host.info.kernelVersion": "host.kernel", "host.info.hostname": "host.hostname", "host.info.virtualizationSystem": "host.virtualization",
	"network.interfaces": "host.interfaces",
}

// FromCCM returns settle's name for a value of CCM, given as a path such as
// data.package_name, facts.host.info.os or Environ.HOME. It returns "" for an
// unknown path.
func FromCCM(path string) string {
	root, rest, ok := strings.Cut(path, ".")
	switch {
	case !ok || rest == "":
		return ""
	case strings.EqualFold(root, "data"):
		return "var." + rest
	case strings.EqualFold(root, "environ"):
		return "env." + rest
	case strings.EqualFold(root, "facts"):
		return ccmFacts[rest]
	}
	return ""
}

// suggestFromCCM returns a suggestion with settle's name for a path of CCM, "" for
// an unknown path.
func suggestFromCCM(path ...string) string {
	if slices.Contains(path, "") {
		return ""
	}
	if name := FromCCM(strings.Join(path, ".")); name != "" {
		return "write " + name
	}
	return ""
}
