package ccm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model/ccm"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain $x ${ {{ }":            "",
		"a ${ Data.x }b{{Facts.y }}":  "Data.x|Facts.y",
		"${{ x }}":                    "x",
		`${ "}" + '}' }`:              `"}" + '}'`,
		"${ {'a': 1}.a } ${ `}` }":    "{'a': 1}.a|`}`",
		`{{ "a\"}}" }}`:               `"a\"}}"`,
		"${ 'open } ${ lookup('x') }": "lookup('x')",
		"${}":                         "",
		"{{ a }} {{ b":                "a",
	} {
		var got []string
		for _, m := range ccm.Find(text) {
			got = append(got, m.Code)
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q: %q, want %q", text, joined, want)
		}
	}
}

func world() ccm.World {
	return ccm.World{
		Facts: ccm.Facts(map[string]any{"os": "linux", "family": "debian", "arch": "amd64", "memory_mb": 2, "interfaces": map[string]any{"eth0": map[string]any{"mtu": 1500, "mac": "aa", "addresses": []any{"10.0.0.1/8"}}}}, map[string]any{"role": "web"}),
		Data:  map[string]any{"port": 80, "name": "web", "list": []any{"a", map[string]any{"n": 1}}, "m": map[string]any{"a.b": true}},
		Environ: func(name string) (string, bool) {
			return map[string]string{"HOME": "/root"}[name], name == "HOME"
		},
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]any{
		"Data.port + 1": 81, "lookup('data.port')": 80, "lookup('data.list.#')": 2, "lookup('data.list.1.n')": 1, "lookup('data.list.#.n')": []any{1},
		`lookup('data.m.a\\.b')`: true, "lookup('data.no', 'x')": "x", "lookup('data.no', false)": false, "Facts.host.info.platformFamily": "debian",
		"lookup('facts.host.info.kernelArch')": "x86_64", "lookup('facts.network.interfaces.0.name')": "eth0", "Facts.role": "web", "Environ.HOME": "/root",
		"lookup('environ.HOME')": "/root", "lookup('environ.NO', 'd')": "d", "upper(Data.name)": "WEB", "Data.no ?? 'x'": "x", "Data.port > 79 ? 'a' : 'b'": "a",
		"3 / 2": 1.5, "4 / 2": 2, "Data.list": []any{"a", map[string]any{"n": 1}}, "map(Data.list, 1)": []any{1, 1}, "lookup('facts.memory.virtual.total')": 2 << 20,
		"let x = Data.port; x + 1": 81,
	} {
		result, err := world().Evaluate(code)
		if err != nil {
			t.Errorf("%s: %v", code, err)
		} else if diff := cmp.Diff(want, ccm.Normalize(result.Value)); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"lookup('data.nmae')":                 "data has no nmae; did you mean data.name?; or write a default as in lookup('data.nmae', 'TEXT')",
		"lookup('facts.platformFamily')":      "no fact facts.platformFamily; did you mean facts.host.info.platformFamily?; or give it with --fact platformFamily=…",
		"Facts.host.info.platformFamly":       "no fact facts.host.info.platformFamly; did you mean facts.host.info.platformFamily?; or give it with --fact host.info.platformFamly=…",
		"Data.x.y":                            "data has no x.y; there are ",
		"lookup('environ.NO')":                "the environment has no NO; settle does not read .env: set the variable",
		"HOME":                                `unknown name "HOME"; an expression has Data, Facts, Environ and lookup(); a shell variable is $HOME, without braces`,
		"data.x":                              `unknown name "data"; did you mean Data?`,
		"file('x')":                           "settle has no file(); write template: FILE",
		"readFile('x')":                       "settle has no readFile()",
		"jet('x')":                            "settle has no jet()",
		"template('x')":                       "settle has no template()",
		"kvGet('a', 'b')":                     "settle has no kvGet(); give the value by --var",
		"registrations('a', 'b', 'c', 'd')":   "settle has no registrations()",
		"1 +":                                 "invalid expression: the expression ends too early",
		"lookup()":                            "lookup wants a path",
		"lookup(1)":                           "lookup wants a path in quotes",
		"lookup('data.list.#(n==1)')":         `lookup("data.list.#(n==1)") has a "("`,
		"lookup('dta.x')":                     `lookup("dta.x") leads to nothing; a path begins with data, facts or environ`,
		"all([1], all([1], all([1], # > 0)))": "conditions on the items of lists are nested too deep",
		strings.Repeat("(", 3000) + "1":       "",
		strings.Repeat("1 + ", 2000) + "1":    "the expression has more than 4096 bytes",
	} {
		_, err := world().Evaluate(code)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", code, err, want)
		}
	}
}

// A missing value is empty in data and the hierarchy, and where there is no data.
func TestMissingValuesAreEmptyInPlaces(t *testing.T) {
	t.Parallel()
	w := world()
	w.Lenient = true
	for _, code := range []string{"lookup('facts.no')", "Facts.no", "Facts.no.more", "lookup('data.no')"} {
		if result, err := w.Evaluate(code); err != nil || result.Value != "" || len(result.Warnings) > 0 {
			t.Errorf("%s: %v, %v", code, result, err)
		}
	}
	w = ccm.World{NoData: true}
	for _, code := range []string{"lookup('data.no')", "Data.no", "Environ.NO"} {
		if result, err := w.Evaluate(code); err != nil || result.Value != "" || len(result.Warnings) != 1 {
			t.Errorf("%s: %v, %v", code, result, err)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		condition string
		value     any
		want      bool
	}{
		{"isIP(value)", "::1", true}, {"is_ipv4(value)", "::1", false}, {"isIPv4(value) || isIPv6(value)", "::1", true}, {"isInt(value)", 3, true}, {"isInt(value)", "x", false},
		{"isFloat(value)", 1.5, true}, {"isDuration(value)", "1h30m", true}, {"isDuration(value)", "soon", false}, {`isRegex(value, "^[a-z]+$")`, "abc", true},
		{"isShellSafe(value)", "a;b", false}, {"isShellSafe(value)", "/usr/bin/x", true}, {"isHostname(value)", "web-1", true}, {"isFQDN(value)", "web-1", false}, {"is_fqdn(value)", "a.example.net", true},
	} {
		if got, err := ccm.Validate(tt.condition, tt.value); got != tt.want || err != nil {
			t.Errorf("%s of %v: %v, %v", tt.condition, tt.value, got, err)
		}
	}
	if _, err := ccm.Validate("isNothing(value)", 1); err == nil {
		t.Error("an unknown function is accepted")
	}
}

// FuzzEvaluate finds and evaluates anything: it must end, and give a value or a mistake.
func FuzzEvaluate(f *testing.F) {
	f.Add("a ${ lookup('data.list.#.n') } {{ Facts.host.info.os }}")
	f.Add("${ map(1..3, # * 2) }{{ now() }}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range ccm.Find(text) {
			if result, err := world().Evaluate(m.Code); err == nil {
				ccm.Normalize(result.Value)
			}
		}
	})
}
