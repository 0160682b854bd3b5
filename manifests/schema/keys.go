package schema

import "github.com/settle-cm/settle/model"

// Keys are the keys of a manifest, in the order of the reference. The loader, the
// JSON Schema, `settle explain` and the README all follow from this table.
var Keys = []model.Property{
	{Name: "name", Kind: model.Line, Default: "the file's absolute path", Meaning: "identity of the journal: what is remembered of this manifest is kept under it",
		More: `With a name the file can be moved, and refreshes that are owed stay owed. Two manifests of one name on one machine share what is remembered, so give each its own.`, Example: "web"},
	{Name: "description", Kind: model.Text, Meaning: "what the manifest is for, in one line", Example: "the web servers"},
	{Name: "parallel", Kind: model.Count, Default: "1", Meaning: "how many resources may run at once; --parallel overrides it", Example: "4"},
	{Name: "fail_fast", Kind: model.Bool, Default: "false", Meaning: "start nothing more after the first failure", Example: "true"},
	{Name: "clean_env", Kind: model.Bool, Default: "false", Meaning: "start commands from PATH, HOME, USER, LOGNAME, SHELL and LANG only, not from settle's own environment", Example: "true"},
	{Name: "secrets", Kind: model.Lines, Meaning: "names of environment variables whose values are *** in every text",
		More: `The values are those in settle's own environment and those that environment properties give to the names. Values of fewer than four characters cannot be hidden.`, Example: "[DEPLOY_TOKEN]"},
	{Name: "on_missing_state", Kind: model.Choice, Choices: []string{"ignore", "refresh", "fail"}, Default: "ignore", Meaning: "what a run that finds no state does; refresh: every subscriber is owed one refresh",
		More: `For machines that lose the state directory but not what the manifest changed. The first run on a new machine finds no state either. fail ends the run before it does anything.`, Example: "refresh"},
	{Name: "include", Kind: model.Lines, Meaning: "files whose resources belong to this manifest too, before its own",
		More: `A path is relative to the file that includes. An included file is a manifest, or a bare list of entries, that has no other keys than description, secrets, include, vars, defaults and resources; its defaults are for its own resources only, and relative paths in it begin at its own directory. Names of resources are unique over all files, and references reach all of them.

A file that several files include is loaded once. Files include each other ten deep at most, and all files together are at most 16 MiB.`, Example: "[common.yaml, web/nginx.yaml]"},
	{Name: "vars", Kind: model.Vars, Meaning: "variables: ${var.NAME} stands for their values wherever a value may stand",
		More: `A variable is written with its default, any value; or as a map of type (string, int, bool, list or map), default, description, enum, secret and required. ${var.NAME:-TEXT} is TEXT where there is no value.

SETTLE_VAR_NAME in the environment replaces the default, --var-file replaces both, and --var NAME=VALUE replaces all of them. ${env.NAME} is a variable of the environment, ${host.os} and others are facts of the machine, ${self.name} is the resource's name. $${var.NAME} is that text itself.`, Example: "{release: \"1.4\", stage: {enum: [test, live], required: true}}"},
	{Name: "hierarchy", Kind: model.Hierarchy, Meaning: "the levels whose overrides hold on a machine, in order",
		More: `Each entry is a text, mostly with an expression: "family:${host.family}". The resulting text is the name of a level under overrides. A level without overrides is passed over, and so is an entry whose expression leads to nothing on this machine.

By default (merge: first) the first level that exists gives its values, and no other level counts. With {order: […], merge: deep} all levels count: a later level replaces the values of an earlier one, maps are merged by key, and lists are appended without repetition, also to the default of the variable.

A variable that an entry names cannot be overridden itself.`, Example: "[\"family:${host.family}\", \"host:${host.hostname}\"]"},
	{Name: "overrides", Kind: model.Overrides, Meaning: "values of variables by level of the hierarchy; they replace the defaults of vars",
		More: `A level is a map from variables to values. A value has the type of the variable, and the variable must be declared under vars. SETTLE_VAR_NAME, --var-file and --var replace overrides.`, Example: "{\"family:debian\": {service: chrony}}"},
	{Name: "overrides_from", Kind: model.Line, Path: true, Meaning: "a directory with a file LEVEL.yaml for each level: a map of variables as under overrides",
		More: `Only the files of levels that hold on this machine are read. A level may stand under overrides and in a file, but not with the same variable.`, Example: "data/"},
	{Name: "defaults", Kind: model.Settings, Meaning: "properties by type, for every resource of the file that does not set them itself",
		More: `A list of resources may begin with defaults of its own: "- defaults: {cwd: /opt}". They go over those of the file, and what a resource gives itself goes over both. Lists are replaced, not merged. Names and aliases cannot be defaults.`, Example: "{exec: {cwd: /opt}}"},
	{Name: "resources", Kind: model.Entries, Meaning: "the resources: a list of entries with one type each", Example: "[{exec: [{/bin/true: {}}]}]"},
}

// CCMKeys are the keys under `ccm` of a CCM manifest.
var CCMKeys = []model.Property{
	{Name: "resources", Kind: model.Entries, Meaning: "the resources: a list of entries with one type each", Example: "[{exec: [{/bin/true: {}}]}]"},
	{Name: "fail_on_error", Kind: model.Bool, Default: "false", Meaning: "start nothing more after the first failure", Example: "true"},
	{Name: "pre_message", Kind: model.Text, Meaning: "a log line before the run", Example: "setting up the web server"},
	{Name: "post_message", Kind: model.Text, Meaning: "a log line after the run", Example: "done"},
}

// BesideCCM are the keys beside `ccm` of a CCM manifest.
var BesideCCM = []model.Property{
	{Name: "data", Kind: model.AnyValue, Meaning: "values for the expressions of a CCM manifest", Example: "{package_name: httpd}"},
	{Name: "hierarchy", Kind: model.Hierarchy, Meaning: "the levels whose overrides hold on a machine", Example: `{order: ["os:${ lookup('facts.host.info.platformFamily') }"]}`},
	{Name: "overrides", Kind: model.Overrides, Meaning: "values of data by level", Example: "{\"os:debian\": {package_name: apache2}}"},
}

// Find returns the property of that name in a table, nil when it lacks one.
func Find(table []model.Property, name string) *model.Property {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}
