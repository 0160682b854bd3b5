package facts

import (
	"context"
	"errors"
	stdnet "net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// nameLimit is how long the resolver may take to tell the full name.
const nameLimit = 2 * time.Second

// Host returns the facts that a manifest may use, by name: texts, ints,
// []any and map[string]any. It gathers no more than these, because every load of a
// manifest waits for them. Facts that the system does not provide are left out.
func Host(ctx context.Context) (map[string]any, error) {
	return inTime(ctx, ofHost)
}

func ofHost(ctx context.Context) map[string]any {
	facts := map[string]any{
		"os": runtime.GOOS, "arch": runtime.GOARCH,
		"cpus": runtime.NumCPU(), // those that we may use, as nproc counts
	}
	add := func(name, value string, err error) {
		if err == nil && value != "" {
			facts[name] = value
		}
	}
	full := make(chan string, 1)
	name, err := os.Hostname()
	add("hostname", name, err)
	go func() { full <- fullName(ctx, name) }()

	distribution, family, version, err := platform(ctx)
	add("distribution", distribution, err)
	add("family", family, err)
	add("version", version, err)
	kernel, err := host.KernelVersionWithContext(ctx)
	add("kernel", kernel, err)
	arch, err := host.KernelArch()
	add("arch", architecture(arch), err)
	facts["virtualization"] = ""
	system, role, err := host.VirtualizationWithContext(ctx)
	if role == "guest" {
		add("virtualization", system, err)
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		facts["memory_mb"] = int(m.Total >> 20)
	}
	if list, err := net.InterfacesWithContext(ctx); err == nil {
		facts["interfaces"] = interfaces(list)
	}
	add("fqdn", <-full, nil)
	return facts
}

// platform tells what the system is. Where /etc/os-release says so nothing else
// is asked: gopsutil would run lsb_release, and a plan runs nothing.
func platform(ctx context.Context) (distribution, family, version string, err error) {
	for _, file := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		if data, err := os.ReadFile(file); err == nil {
			if distribution, family, version = release(string(data)); distribution != "" {
				return distribution, family, version, nil
			}
		}
	}
	return host.PlatformInformationWithContext(ctx)
}

// families are the distributions that others name in ID_LIKE, by what people
// call what they have in common.
var families = map[string]string{
	"debian": "debian", "ubuntu": "debian", "rhel": "rhel", "centos": "rhel", "fedora": "rhel", "suse": "suse", "opensuse": "suse",
}

// release reads an os-release file.
func release(text string) (id, family, version string) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[key] = strings.Trim(value, `"'`)
		}
	}
	id, family = values["ID"], values["ID"]
	like := strings.Fields(values["ID_LIKE"])
	if len(like) > 0 {
		family = like[0]
	}
	for _, name := range append([]string{id}, like...) {
		if known, ok := families[name]; ok {
			return id, known, values["VERSION_ID"]
		}
	}
	return id, family, values["VERSION_ID"]
}

// architecture is what Go calls the machine's architecture: a program may be for
// another one than the machine's own.
func architecture(machine string) string {
	switch {
	case machine == "x86_64":
		return "amd64"
	case machine == "aarch64":
		return "arm64"
	case strings.HasPrefix(machine, "arm") && machine != "arm64":
		return "arm"
	case len(machine) == len("i686") && machine[0] == 'i' && strings.HasSuffix(machine, "86"):
		return "386"
	}
	return machine
}

// fullName asks the resolver for the name with its domain, as hostname -f does:
// /etc/hosts, then DNS. It is the short name where there is no other, and ""
// without an answer.
func fullName(ctx context.Context, name string) string {
	if strings.Contains(name, ".") || name == "" {
		return name
	}
	ctx, stop := context.WithTimeout(ctx, nameLimit)
	defer stop()
	full, err := stdnet.DefaultResolver.LookupCNAME(ctx, name)
	var refused *stdnet.DNSError
	full = strings.TrimSuffix(full, ".")
	switch {
	case err == nil && strings.HasPrefix(full, name+"."):
		return full
	case err == nil, errors.As(err, &refused) && refused.IsNotFound:
		return name
	}
	return ""
}

// interfaces lists the network interfaces by name: ipv4 and ipv6 are the first
// addresses that others can reach, without the length of their network.
func interfaces(list net.InterfaceStatList) map[string]any {
	all := map[string]any{}
	for _, i := range list {
		one := map[string]any{"mac": i.HardwareAddr, "mtu": i.MTU}
		addresses := []any{}
		for _, a := range i.Addrs {
			addresses = append(addresses, a.Addr)
			prefix, err := netip.ParsePrefix(a.Addr)
			if err != nil {
				continue
			}
			key := "ipv6"
			if prefix.Addr().Is4() {
				key = "ipv4"
			}
			if _, ok := one[key]; !ok && !prefix.Addr().IsLinkLocalUnicast() {
				one[key] = prefix.Addr().String()
			}
		}
		one["addresses"] = addresses
		all[i.Name] = one
	}
	return all
}
