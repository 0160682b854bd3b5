package apt

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model/packages"
)

func TestCompareFollowsDebianVersions(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"1.0-1", "0:1.0-1", 0},
		{"1.0", "1.0-0", 0},
		{"1.10", "1.9", 1},
		{"1.0~rc1", "1.0", -1},
		{"1.0~~", "1.0~", -1},
		{"1:0.5", "2.0", 1},
		{"1.0a", "1.0+", -1},
		{"1.0-1+deb12u11", "1.0-1+deb12u9", 1},
		{"01.0", "1.00", 0},
	} {
		if got := Compare(row.a, row.b); got != row.want {
			t.Errorf("Compare(%q, %q) is %d, want %d", row.a, row.b, got, row.want)
		}
		if got := Compare(row.b, row.a); got != -row.want {
			t.Errorf("Compare(%q, %q) is %d, want %d", row.b, row.a, got, -row.want)
		}
	}
}

// dpkg itself is the oracle for random pairs of versions.
func TestCompareAgreesWithDpkg(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("compares with dpkg, which is not installed")
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	version := func() string {
		const letters = "0019aZ.+~"
		var b strings.Builder
		if random.IntN(3) == 0 {
			b.WriteString([]string{"0:", "1:", "02:"}[random.IntN(3)])
		}
		b.WriteByte('1')
		for range random.IntN(6) {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		if random.IntN(2) == 0 {
			b.WriteString("-1")
			for range random.IntN(3) {
				b.WriteByte(letters[random.IntN(len(letters))])
			}
		}
		return b.String()
	}
	var pairs, script []string
	for range 400 {
		a, b := version(), version()
		pairs = append(pairs, a, b)
		script = append(script, "dpkg --compare-versions '"+a+"' lt '"+b+"' && echo -1 || { dpkg --compare-versions '"+a+"' eq '"+b+"' && echo 0 || echo 1; }")
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(script, "\n")).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{-1: "-1", 0: "0", 1: "1"}
	for i, want := range strings.Fields(string(out)) {
		if got := names[Compare(pairs[2*i], pairs[2*i+1])]; got != want {
			t.Errorf("seed %d: Compare(%q, %q) is %s, dpkg says %s", seed, pairs[2*i], pairs[2*i+1], got, want)
		}
	}
}

func TestParseTableReadsEveryState(t *testing.T) {
	const output = "dpkg\tamd64\t1.21\tinstall ok installed\n" +
		"held\tall\t1.0\thold ok installed\n" +
		"gone\tall\t1.0\tdeinstall ok config-files\n" +
		"never\tall\t\tunknown ok not-installed\n" +
		"half\tall\t1.0\tinstall ok half-configured\n" +
		"again\tall\t1.0\tinstall reinstreq half-installed\n" +
		"libc\tamd64\t2.36\tinstall ok installed\nlibc\ti386\t2.36\tinstall ok installed\n" +
		"broken line\n"
	want := packages.Table{
		"dpkg":  {{Name: "dpkg", Arch: "amd64", Version: "1.21", State: packages.Installed}},
		"held":  {{Name: "held", Arch: "all", Version: "1.0", State: packages.Installed, Held: true}},
		"gone":  {{Name: "gone", Arch: "all", Version: "1.0", State: packages.ConfigFiles}},
		"half":  {{Name: "half", Arch: "all", Version: "1.0", State: packages.Broken, Detail: "not configured: its maintainer script failed or was interrupted"}},
		"again": {{Name: "again", Arch: "all", Version: "1.0", State: packages.Broken, Detail: "has to be installed again (reinstreq)"}},
		"libc": {
			{Name: "libc", Arch: "amd64", Version: "2.36", State: packages.Installed},
			{Name: "libc", Arch: "i386", Version: "2.36", State: packages.Installed},
		},
	}
	if diff := cmp.Diff(want, ParseTable(output)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParsePolicyKeepsOnlyTheNamesThatWereAskedFor(t *testing.T) {
	const output = `nginx:
  Installed: (none)
  Candidate: 1.22.1-9+deb12u11
  Version table:
     1.22.1-9+deb12u11 500
        500 http://deb.debian.org/debian-security bookworm-security/main amd64 Packages
     1.22.1-9+deb12u9 500
        500 http://deb.debian.org/debian bookworm/main amd64 Packages
nginx-full:
  Installed: 1.0
  Candidate: 1.0
  Version table:
 *** 1.0 100
        100 /var/lib/dpkg/status
virtual:
  Installed: (none)
  Candidate: (none)
  Version table:
`
	want := map[string]packages.Offer{
		"nginx":   {Candidate: "1.22.1-9+deb12u11", Versions: []string{"1.22.1-9+deb12u11", "1.22.1-9+deb12u9"}},
		"virtual": {},
	}
	if diff := cmp.Diff(want, ParsePolicy(output, []string{"nginx", "virtual"})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParseSimulationReadsEveryKindOfChange(t *testing.T) {
	const output = `Reading package lists...
Inst lib (1.0 repo [all])
Inst curl [7.88.1-10+deb12u5] (7.88.1-10+deb12u8 Debian-Security:12/stable-security [amd64])
Inst libx:i386 [1.0] (1.1 repo [i386]) []
Remv apache2 [2.4]
Purg php [8.2]
Conf lib (1.0 repo [all])
`
	want := []packages.Change{
		{Name: "lib", New: "1.0"},
		{Name: "curl", Old: "7.88.1-10+deb12u5", New: "7.88.1-10+deb12u8"},
		{Name: "libx:i386", Old: "1.0", New: "1.1"},
		{Name: "apache2", Old: "2.4"},
		{Name: "php", Old: "8.2"},
	}
	if diff := cmp.Diff(want, ParseSimulation(output)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFirstErrorNamesTheCause(t *testing.T) {
	for output, want := range map[string]string{
		"dpkg: error processing package bad (--configure):\n installed bad package post-installation script subprocess returned error exit status 7\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n": "the post-installation script of bad failed: exit 7",
		"Reading...\nE: Unable to locate package nosuch\n": "Unable to locate package nosuch",
		"The following packages have unmet dependencies:\n usr : Depends: lib (>= 2) but 1.0 is to be installed\nE: Unable to correct problems\n": "usr depends on lib (>= 2) but 1.0 is to be installed",
		"": "apt-get gave no reason",
	} {
		if got := firstError(output); got != want {
			t.Errorf("firstError(%q) is %q, want %q", output, got, want)
		}
	}
}
