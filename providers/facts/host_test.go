package facts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v4/net"
)

// What settle says of this machine is what its own tools say.
func TestHostMatchesSystemTools(t *testing.T) {
	facts, err := Host(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same := func(name, want string) {
		t.Helper()
		if got, ok := facts[name].(string); !ok || got != want {
			t.Errorf("%s is %#v, want %q", name, facts[name], want)
		}
	}
	same("os", runtime.GOOS)
	same("hostname", output(t, "uname", "-n"))
	same("kernel", output(t, "uname", "-r"))
	same("arch", architecture(output(t, "uname", "-m")))
	if runtime.GOOS != "linux" {
		return
	}
	if cpus := output(t, "nproc"); strconv.Itoa(facts["cpus"].(int)) != cpus {
		t.Errorf("cpus is %v, nproc says %s", facts["cpus"], cpus)
	}
	if mb := facts["memory_mb"].(int); mb < 16 {
		t.Errorf("memory_mb is %d", mb)
	}
	if _, ok := facts["virtualization"].(string); !ok {
		t.Errorf("virtualization is %#v", facts["virtualization"])
	}
	for name, one := range facts["interfaces"].(map[string]any) {
		mtu, err := os.ReadFile("/sys/class/net/" + name + "/mtu")
		if err == nil && strings.TrimSpace(string(mtu)) != strconv.Itoa(one.(map[string]any)["mtu"].(int)) {
			t.Errorf("%s is %v, its mtu %s", name, one, mtu)
		}
	}
	if out := output(t, "sh", "-c", `. /etc/os-release && echo "$ID $VERSION_ID"`); out != strings.TrimSuffix(fmt.Sprintf("%v %v", facts["distribution"], facts["version"]), " <nil>") {
		t.Errorf("the distribution is %v %v, /etc/os-release says %s", facts["distribution"], facts["version"], out)
	}
	if full, ok := facts["fqdn"].(string); ok && !strings.HasPrefix(full, facts["hostname"].(string)) {
		t.Errorf("fqdn is %s, hostname %v", full, facts["hostname"])
	}
}

// A manifest means the same at every look.
func TestHostIsTheSameAtEveryCall(t *testing.T) {
	first, err := Host(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Host(t.Context()); err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("first %v, then %v, %v", first, again, err)
	}
}

func TestHostEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	if _, err := Host(ctx); err != nil && !errors.Is(err, why) { // it may be faster
		t.Error(err)
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID=\"12\"\n", "debian debian 12"},
		{"ID=ubuntu\nID_LIKE=debian\nVERSION_ID='22.04'\n", "ubuntu debian 22.04"},
		{"# a comment\nID=\"linuxmint\"\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"21.3\"", "linuxmint debian 21.3"},
		{"ID=fedora\nVERSION_ID=40\n", "fedora rhel 40"},
		{"ID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.4\"\n", "rhel rhel 9.4"},
		{"ID=rocky\r\nID_LIKE=\"rhel centos fedora\"\r\nVERSION_ID=\"9.4\"\r\n", "rocky rhel 9.4"},
		{"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\nVERSION_ID=\"15.6\"\n", "opensuse-leap suse 15.6"},
		{"ID=alpine\nVERSION_ID=3.20.1\n", "alpine alpine 3.20.1"},
		{"ID=manjaro\nID_LIKE=arch\n", "manjaro arch "},
		{"", "  "},
	} {
		id, family, version := release(tt.text)
		if got := id + " " + family + " " + version; got != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	for machine, want := range map[string]string{
		"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv7l": "arm", "i686": "386", "i386": "386", "riscv64": "riscv64", "ppc64le": "ppc64le",
	} {
		if got := architecture(machine); got != want {
			t.Errorf("%s is %s, want %s", machine, got, want)
		}
	}
}

func TestInterfaces(t *testing.T) {
	t.Parallel()
	got := interfaces(net.InterfaceStatList{
		{Name: "eth0", MTU: 1500, HardwareAddr: "02:00:00:00:00:01", Addrs: net.InterfaceAddrList{
			{Addr: "fe80::1/64"}, {Addr: "169.254.0.1/16"}, {Addr: "10.0.0.5/24"}, {Addr: "10.0.0.6/24"}, {Addr: "2001:db8::5/64"},
		}},
		{Name: "down", MTU: 9000},
	})
	want := map[string]any{
		"eth0": map[string]any{
			"mac": "02:00:00:00:00:01", "mtu": 1500, "ipv4": "10.0.0.5", "ipv6": "2001:db8::5",
			"addresses": []any{"fe80::1/64", "169.254.0.1/16", "10.0.0.5/24", "10.0.0.6/24", "2001:db8::5/64"},
		},
		"down": map[string]any{"mac": "", "mtu": 9000, "addresses": []any{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("interfaces are %v,\nwant %v", got, want)
	}
}

func BenchmarkHost(b *testing.B) {
	for b.Loop() {
		if _, err := Host(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Skip(err)
	}
	return strings.TrimSpace(string(out))
}
