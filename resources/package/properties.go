package pkg

import "github.com/settle-cm/settle/model"

var properties = []model.Property{
	{
		Name: "package", Kind: model.Lines, Meaning: "the package or packages, when they are not the resource's name; a list is one transaction",
		More:    `Real package names; with apt also NAME:ARCH. In a list an item may be NAME=VERSION. A pattern or a group is refused.`,
		Example: "[git, curl, jq]",
	},
	{
		Name: "ensure", Kind: model.Line, Default: "present", Meaning: "present, latest, absent, purged, or a version",
		More: `present installs the newest version where the package is missing, and leaves any other version alone. latest upgrades to the version that the package manager would take; it never downgrades. absent removes; purged (apt) removes configuration files as well.

A version is the whole version as the package manager writes it (1.22.1-9), or a pattern: 1.22.* takes the newest version that fits, and is satisfied by any installed version that fits. It is for one package: in a list write NAME=VERSION.`,
		Example: "1.22.1-9",
	},
	{
		Name: "downgrade", Kind: model.Bool, Meaning: "whether a version may become lower; absent: only where a version is written",
		Example: "false",
	},
	{
		Name: "removals", Kind: model.Bool, Default: "false", Meaning: "whether packages that are not named here may be removed along the way",
		More:    `Without it a transaction that would remove other packages is an error, in plan as in apply, that names them.`,
		Example: "true",
	},
	{
		Name: "recommends", Kind: model.Bool, Meaning: "whether recommended packages are installed; absent: as the system is configured",
		Example: "false",
	},
	{
		Name: "hold", Kind: model.Bool, Meaning: "whether the packages are kept from upgrades by others (apt-mark hold); absent: as it is",
		More:    `A package that is held although hold is not written is not changed: that is an error that says so.`,
		Example: "true",
	},
	{
		Name: "conffiles", Kind: model.Choice, Choices: []string{"keep", "new"}, Default: "keep", Meaning: "what becomes of a configuration file that was changed on this machine",
		More:    `keep keeps it, and puts the package's version beside it (.dpkg-dist), with a warning. Nothing ever asks a question.`,
		Example: "new",
	},
	{
		Name: "update", Kind: model.Line, Default: "auto", Meaning: "when the package index is read anew: auto, never, or a duration",
		More:    `auto: when a package or version is not known to it, at most once a run. A duration such as 1d: also when it is older.`,
		Example: "1d",
	},
	{
		Name: "lock_timeout", Kind: model.Duration, Default: "5m", Meaning: "how long to wait for another package manager that runs",
		Example: "15m",
	},
	{
		Name: "provider", Kind: model.Choice, Choices: []string{"apt", "dnf"}, Meaning: "the package manager; absent: the one of the machine",
		Example: "apt",
	},
}
