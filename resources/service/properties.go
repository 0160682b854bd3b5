package service

import "github.com/settle-cm/settle/model"

var properties = []model.Property{
	{
		Name: "unit", Kind: model.Line, Meaning: "the unit, when it is not the resource's name; .service is added where there is no suffix",
		More:    `Any kind of unit: nginx, backup@daily.timer, app.socket, srv.mount. A template needs an instance: app@blue.`,
		Example: "backup@daily.timer",
	},
	{
		Name: "ensure", Kind: model.Choice, Choices: []string{"running", "stopped", "any"}, Default: "running",
		Meaning: "whether it runs: running, stopped, or any to look at the other properties only",
		More: `active, reloading and refreshing count as running, and so does a oneshot with RemainAfterExit that has finished. A unit that is starting is waited for. A unit that systemd restarts again and again does not run.

A failed unit counts as stopped.`,
		Example: "stopped",
	},
	{
		Name: "enable", Kind: model.Bool, Meaning: "whether it starts at boot; absent: as it is",
		More:    `A static unit has no [Install] section and cannot be enabled: that is a warning. An indirect unit (its [Install] names other units only) is enabled at each run, and counts as changed only when systemctl made a link.`,
		Example: "true",
	},
	{
		Name: "masked", Kind: model.Bool, Meaning: "whether it is masked, so that nothing can start it (systemd only); absent: as it is",
		Example: "true",
	},
	{
		Name: "refresh", Kind: model.Choice, Choices: []string{"restart", "reload", "reload_or_restart"}, Default: "restart",
		Meaning: "what a refresh does to a unit that runs",
		More:    `A unit that does not run is started instead, which makes it read its configuration as well. With ensure: stopped a refresh does nothing. With on_refresh: check a refresh does nothing beyond what the other properties ask for.`,
		Example: "reload",
	},
	{
		Name: "steady", Kind: model.Duration, Default: "1s", Meaning: "how long it has to stay up after a start or restart; 0 does not watch it",
		More:    `A program that dies right after its start has succeeded for systemd. It is watched for this time, and the resource fails when the unit has stopped or was restarted meanwhile.`,
		Example: "5s",
	},
	{
		Name: "provider", Kind: model.Choice, Choices: []string{"systemd", "openrc"}, Meaning: "the service manager; absent: the one that runs",
		Example: "systemd",
	},
}
