package condition

import (
	"slices"
	"strings"
)

// ccmFacts are the facts of CCM's that settle has too, under its own names.
var ccmFacts = map[string]string{
	"host.info.os": "host.os", "host.info.platformFamily": "host.family", "host.info.platform": "host.distribution", "host.info.platformVersion": "host.version",
	"host.info.kernelArch": "host.arch", "host.info.kernelVersion": "host.kernel", "host.info.hostname": "host.hostname", "host.info.virtualizationSystem": "host.virtualization",
	"network.interfaces": "host.interfaces",
}

// FromCCM is what settle calls a value that CCM finds at a path, such as
// data.package_name, facts.host.info.os or Environ.HOME; "" when there is none.
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

// ofCCM suggests the name of a value of CCM's, "" when there is none or when the
// path is none of CCM's.
func ofCCM(path ...string) string {
	if slices.Contains(path, "") {
		return ""
	}
	if ours := FromCCM(strings.Join(path, ".")); ours != "" {
		return "write " + ours
	}
	return ""
}
