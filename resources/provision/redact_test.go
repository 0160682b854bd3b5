package provision

import "testing"

func TestMask(t *testing.T) {
	tests := []struct{ text, want string }{
		{"loglevel = warn", "loglevel = warn"},
		{"+plugin.nats.pass = hunter2\n loglevel = warn", "+plugin.nats.pass = ***\n loglevel = warn"},
		{"-plugin.nats.passphrase=a b c", "-plugin.nats.passphrase=***"},
		{"registration.secret_key = x\nregistration.access.key = x", "registration.secret_key = ***\nregistration.access.key = ***"},
		{"the password = x", "the password = ***"},
		{"+plugin.nats.pass = \n+loglevel = warn", "+plugin.nats.pass = \n+loglevel = warn"}, // an empty one is not its neighbour
		{"plugin.security.choria.token_file = /x", "plugin.security.choria.token_file = /x"},
		{"hosts = nats://u:hunter2@h1:4222,nats://T0KEN@h2:4222,nats://h3:4222", "hosts = nats://***@h1:4222,nats://***@h2:4222,nats://h3:4222"},
		{"+dsn = postgres://u:hunter2@h/db", "+dsn = postgres://***@h/db"},
		{"dsn = postgres://u:hunt@er2@h/db", "dsn = postgres://***@h/db"},
		{"owner = ops@example.net, https://example.net/~a@b", "owner = ops@example.net, https://example.net/~a@b"},
	}
	for _, tt := range tests {
		if got := redactConfiguration(tt.text); got != tt.want {
			t.Errorf("redactConfiguration(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
