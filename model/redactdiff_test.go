package model

import (
	"strings"
	"testing"
)

func TestARotatedSecretIsHiddenInADiff(t *testing.T) {
	redact := strings.NewReplacer("new-secret", "***").Replace
	for _, tt := range []struct{ name, diff, want string }{
		{"a value behind a key", "-user=a\n-password=old-secret\n+user=b\n+password=new-secret", "-user=a\n-password=***\n+user=b\n+password=***"},
		{"a line that is the secret", "-old-secret\n+new-secret", "-***\n+***"},
		{"a line with another beginning", "-pw: old-secret\n-x\n+password: new-secret", "-***\n-***\n+password: ***"},
		{"an unrelated block", "-a=1\n+a=2\n same\n-p=old\n+p=new-secret", "-a=1\n+a=2\n same\n-p=***\n+p=***"},
		{"the headers stay", "--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-p=old\n+p=new-secret\n--- /etc/y\n+++ /etc/y\n", "--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-p=***\n+p=***\n--- /etc/y\n+++ /etc/y\n"},
		{"a removed line that begins with dashes", "--- old\n+new-secret", "-***\n+***"},
		{"no secret", "-a\n+b", "-a\n+b"},
		{"only removed", "-a=old\n same", "-a=old\n same"},
	} {
		if got := redactDiff(tt.diff, redact); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
