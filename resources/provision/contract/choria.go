package contract

import "strings"

// provisionKey is the configuration key by which a Choria server provisions itself.
const provisionKey = "plugin.choria.server.provision"

// booleans are the configuration keys that Choria reads as booleans. It takes any
// other value for false, without a warning.
var booleans = []string{
	"activate_agents", "color", "daemonize", "direct_addressing", "registration_splay", "rpcaudit", "rpcauthorization",
	"soft_shutdown", "threaded",
	"plugin.choria.broker_discovery", "plugin.choria.broker_federation", "plugin.choria.broker_network",
	"plugin.choria.discovery_proxy", "plugin.choria.legacy_lifecycle_format",
	"plugin.choria.network.client_anon_tls", "plugin.choria.network.client_tls_force_required",
	"plugin.choria.network.deny_server_connections", "plugin.choria.randomize_middleware_hosts",
	"plugin.choria.registration.file_content.compression", "plugin.choria.require_client_filter", "plugin.choria.use_srv",
	"plugin.nats.ngs",
	"plugin.security.always_overwrite_cache", "plugin.security.certmanager.replace", "plugin.security.choria.sign_replies",
	"plugin.security.client_anon_tls", "plugin.security.server_anon_tls", "plugin.security.support_legacy_certificates",
}

// isTrue and isFalse read a boolean as Choria does.
func isTrue(value string) bool { return oneOf(value, "1", "yes", "true", "y", "t") }

func isFalse(value string) bool { return oneOf(value, "0", "no", "false", "n", "f") }

func oneOf(value string, words ...string) bool {
	value = strings.TrimSpace(value)
	for _, w := range words {
		if strings.EqualFold(value, w) {
			return true
		}
	}
	return false
}
