package provision_test

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/resources"
)

func TestDecode(t *testing.T) {
	tests := []struct{ name, properties, want string }{
		{"nothing but a helper", "helper: /bin/helper", ""},
		{"arguments", "helper: /bin/helper --site 'new york'", ""},
		{"exact words", "helper: [/bin/sh, -c, 'cat; echo']", ""},
		{"no helper", "identity: x", `helper: a provision needs a helper; name the program that answers for this server`},
		{"an empty helper", "helper: []", `helper: command is empty`},
		{"a helper for a shell", "helper: cat | jq .", `helper: "|" would be an argument: no shell reads this command; put it into a script, or write it as a list of words with a shell in front: [/bin/sh, -c, …]`},
		{"an open quote", `helper: cat "x`, `helper: a double quote is not closed; close it, or write \" for the character itself`},
		{"features that exclude each other", "helper: x\nfeatures: [pki, ed25519]\njwt_verify: x\njwt_signing_key: x", `features: pki and ed25519 exclude each other; a server has certificates or tokens: keep one`},
		{"an unknown feature", "helper: x\nfeatures: [pky, x509]", `features: unknown feature "pky"; did you mean "pki"? | features: unknown feature "x509"; settle knows pki, ed25519, jwt and upgrades`},
		{"jwt without a key", "helper: x\nfeatures: [jwt]", `jwt_verify: the feature jwt needs jwt_verify: a token that is not verified says nothing; name the issuer's public key`},
		{"ed25519 without keys", "helper: x\nfeatures: [ed25519]", `jwt_verify: the feature jwt needs jwt_verify: a token that is not verified says nothing; name the issuer's public key`},
		{"ed25519 without a signer", "helper: x\nfeatures: [ed25519]\njwt_verify: x", `jwt_signing_key: the feature ed25519 needs jwt_signing_key; name the file with the issuer's seed`},
		{"a chain without its key", "helper: x\njwt_signing_token: x", `jwt_signing_token: jwt_signing_token needs the jwt_signing_key that it is for`},
		{"a validity too short", "helper: x\nserver_jwt_validity: 59m", `server_jwt_validity: a token has to be good for an hour at least`},
		{"two inventories", "helper: x\ninventory: {facts: {}}\ninventory_file: x", `inventory_file: inventory_file is given beside inventory; drop one of them`},
		{"two versions", "helper: x\nversion: 1\nversion_command: x", `version_command: version_command is given beside version; drop one of them`},
		{"an inventory that is none", "helper: x\ninventory: [1]", `inventory: the inventory is a map; write facts: {name: value} under it`},
		{"a fact in the wrong place", "helper: x\ninventory: {facts: {}, rack: 12}", `inventory: "rack" is not a key of an inventory: put it under facts`},
		{"a home directory", "helper: x\ndirectory: ~/etc", `directory: ~ is not expanded here; write the home directory out`},
		{"the root directory", "helper: x\ndirectory: /", `directory: the root directory is not for a server's files`},
		{"a broken pattern", "helper: x\ncert_deny_list: ['(']", "cert_deny_list: missing closing ): `(`"},
		{"upgrades without a command", "helper: x\nfeatures: [upgrades]\nversion_command: x", `on_upgrade: the feature upgrades needs on_upgrade; name the command that upgrades to $SETTLE_UPGRADE_VERSION`},
		{"upgrades without a version", "helper: x\nfeatures: [upgrades]\non_upgrade: x", `version_command: the feature upgrades needs version_command: it is asked before and after on_upgrade; name a command that prints the version`},
		{"a version that never changes", "helper: x\nfeatures: [upgrades]\non_upgrade: x\nversion: 1", `version: version is the same after on_upgrade, which so counts as failed; use version_command`},
		{"an upgrade without the feature", "helper: x\non_upgrade: x", `on_upgrade: on_upgrade means nothing: the feature upgrades is off; add it to features`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "resources:\n  - provision:\n      - a:\n"
			for line := range strings.Lines(tt.properties) {
				text += "          " + strings.TrimRight(line, "\n") + "\n"
			}
			_, problems, warnings := loadAll(t.TempDir(), text, resources.World{})
			var got []string
			for _, p := range append(problems, warnings...) {
				line := p.Property + ": " + p.Message
				if p.Suggestion != "" {
					line += "; " + p.Suggestion
				}
				got = append(got, line)
			}
			if text := strings.Join(got, " | "); text != tt.want {
				t.Errorf("problems\n%s\nwant\n%s", text, tt.want)
			}
		})
	}
}

// Two resources that write one file would undo each other's work for ever.
func TestTwoResourcesThatWriteOneFile(t *testing.T) {
	tests := []struct{ name, first, second, want string }{
		{"the same directory", "directory: /a", "directory: /a", "m.yaml:6:34: provision#two: /a/server.conf is written by provision#one at m.yaml:3 already; let one resource write it"},
		{"two directories", "directory: /a", "directory: /b", ""},
		{"the same configuration", "directory: /a", "directory: /b, config_file: /a/server.conf", "m.yaml:6:51: provision#two: /a/server.conf is written by provision#one at m.yaml:3 already; let one resource write it"},
		{"the same credentials", "directory: /a", "directory: /b, ssldir: /a/ssl", "m.yaml:6:46: provision#two: /a/ssl/private.pem is written by provision#one at m.yaml:3 already; let one resource write it"},
		{"the same policies", "directory: /a", "directory: /a, config_file: /b.conf", "m.yaml:6:34: provision#two: /a/server.seed is written by provision#one at m.yaml:3 already; let one resource write it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "resources:\n  - provision:\n      - one:\n          {helper: x, " + tt.first + "}\n      - two:\n          {helper: x, " + tt.second + "}\n"
			_, problems := load(t.TempDir(), text, resources.World{})
			if got := problems.Error(); got != tt.want {
				t.Errorf("problems\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
