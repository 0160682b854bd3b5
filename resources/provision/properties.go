package provision

import "github.com/settle-cm/settle/model"

// properties lists the properties of a provision beside the common ones. The
// loader, the schema, explain and the reference page are made from it.
var properties = []model.Property{
	{Name: "helper", Kind: model.CommandLine, Meaning: "the program that decides: it reads the description of the server as JSON on standard input and answers with its configuration as JSON on standard output; no shell reads this command", Example: "/usr/local/bin/helper --site london"},
	{Name: "identity", Kind: model.Line, Default: "the name", Meaning: "the server, usually by its full name", Example: "node1.example.net"},
	{Name: "timeout", Kind: model.Duration, Default: "10s for the helper, 5m for other commands", Meaning: "limit for the helper, each attempt, and for every other command of the resource; 0 is no limit", Example: "30s"},
	{Name: "site", Kind: model.Line, Meaning: "label of the metrics", Example: "london"},
	{Name: "features", Kind: model.Lines, Meaning: "what is turned on: pki (the helper gets a certificate request), ed25519 (the server gets a signed token; turns jwt on), jwt (provisioning.jwt is verified), upgrades", Example: "[pki, upgrades]"},
	{Name: "directory", Kind: model.Line, Path: true, Default: "/etc/choria", Meaning: "where the server has its files; a relative one is relative to the manifest's directory, as every path here", Example: "/etc/choria"},
	{Name: "config_file", Kind: model.Line, Path: true, Default: "server.conf in directory", Meaning: "the server's configuration", Example: "/etc/choria/server.conf"},
	{Name: "ssldir", Kind: model.Line, Path: true, Default: "ssl in directory", Meaning: "where private.pem, csr.pem, certificate.pem and ca.pem are; with the feature pki the helper is told, otherwise it may name another one", Example: "/etc/choria/ssl"},
	{Name: "owner", Kind: model.Line, Default: "who runs settle", Meaning: "user who owns what is written, by name or number", Example: "choria"},
	{Name: "group", Kind: model.Line, Default: "as the system has it", Meaning: "group of what is written, by name or number", Example: "choria"},
	{Name: "jwt", Kind: model.Line, Path: true, Default: "provisioning.jwt in directory", Meaning: "the token with which the server asks to be provisioned", Example: "/etc/choria/provisioning.jwt"},
	{Name: "jwt_verify", Kind: model.Line, Meaning: "what verifies it: a file with a PEM or hex public key, or the hex key itself", Example: "/etc/settle/provisioning.pem"},
	{Name: "jwt_signing_key", Kind: model.Line, Path: true, Meaning: "file with the hex seed that signs the server's token (ed25519); it belongs on no server", Example: "/etc/settle/issuer.seed"},
	{Name: "jwt_signing_token", Kind: model.Line, Path: true, Meaning: "file with the token of a signer in an issuer's chain, whose seed jwt_signing_key is", Example: "/etc/settle/signer.jwt"},
	{Name: "server_jwt_validity", Kind: model.Duration, Default: "365d", Meaning: "how long a server's token is good for when the helper does not say", Example: "90d"},
	{Name: "cert_deny_list", Kind: model.Lines, Default: `\.privileged.mcollective$, \.privileged.choria$, \.mcollective$ and \.choria$`, Meaning: "regular expressions of names for which no certificate is requested; a list replaces the default one", Example: `['\.mcollective$', '\.choria$']`},
	{Name: "inventory", Kind: model.AnyValue, Meaning: "what the helper is told of the server: agents, classes, collectives, data_plugins, facts, machines, main_collective, upgradable and version, or the facts alone", Example: "{facts: {rack: 12}}"},
	{Name: "inventory_file", Kind: model.Line, Path: true, Meaning: "the same from a JSON file", Example: "/var/lib/facts.json"},
	{Name: "inventory_command", Kind: model.CommandLine, Default: "facts of this machine, gathered once a run", Meaning: "the same from the standard output of a command", Example: "facter --json"},
	{Name: "version", Kind: model.Line, Meaning: "version of the running server, for the inventory and for upgrades", Example: "0.30.0"},
	{Name: "version_command", Kind: model.CommandLine, Meaning: "command whose standard output is that version", Example: "choria --version"},
	{Name: "on_shutdown", Kind: model.CommandLine, Meaning: "run when the helper answers shutdown, and not again until it has answered something else", Example: "systemctl disable --now choria-server"},
	{Name: "on_upgrade", Kind: model.CommandLine, Meaning: "run when the helper answers an upgrade to another version, which is in SETTLE_UPGRADE_VERSION; afterwards version_command has to print it", Example: "/usr/local/sbin/upgrade-choria"},
	{Name: "upgrade_optional", Kind: model.Bool, Default: "false", Meaning: "an upgrade that fails is a warning, and the rest of the answer is applied", Example: "true"},
	{Name: "pause_file", Kind: model.Line, Path: true, Meaning: "while this file is there no helper is asked: the resource fails", Example: "/etc/settle/paused"},
	{Name: "creates", Kind: model.Lines, Path: true, Meaning: "when all of these paths exist the helper is not asked; relative ones are relative to the manifest's directory", Example: "/etc/choria/server.conf"},
	{Name: "onlyif", Kind: model.CommandLines, Meaning: "ask only if every one of these commands exits 0", Example: "test -e /etc/choria"},
	{Name: "unless", Kind: model.CommandLines, Meaning: "ask only if none of these commands exits 0", Example: "test -e /etc/choria/keep"},
	{Name: "refreshonly", Kind: model.Bool, Default: "false", Meaning: "ask only when refreshed by a publisher", Example: "true"},
}
