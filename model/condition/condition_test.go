package condition_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model/condition"
)

var values = map[string]any{
	"name": "web", "size": 3, "on": true, "sites": []any{"a", "b"}, "ports": []any{80, 443}, "mixed": []any{"a", 1}, "empty": []any{}, "half": 0.5, "zero": "0",
	"site": map[string]any{"port": 80, "tls": map[string]any{"key": "k"}}, "hosts": []any{map[string]any{"name": "h1", "up": true}, map[string]any{"name": "h2", "up": false}},
}

var facts = map[string]any{"os": "linux", "family": "debian", "version": "12.5", "cpus": 4, "interfaces": map[string]any{"eth0": map[string]any{"mtu": 1500}}}

func names() condition.Names {
	from := func(m map[string]any) func(string) (any, *condition.Error) {
		return func(name string) (any, *condition.Error) { return m[name], nil }
	}
	n := condition.Names{Var: from(values), Host: from(facts), Env: func(name string) string { return map[string]string{"CI": "true"}[name] }}
	for name := range values {
		n.Vars = append(n.Vars, name)
	}
	for name := range facts {
		n.Facts = append(n.Facts, name)
	}
	slices.Sort(n.Facts)
	n.Vars = append(n.Vars, "unset")
	n.Each = map[string]any{"key": 1, "value": map[string]any{"on": true}}
	return n
}

func TestHolds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`true`:                    true,
		`false`:                   false,
		`var.on`:                  true,
		`not var.on`:              false,
		`!var.on || var.size > 2`: true,
		`var.name == "web" and host.os == 'linux'`:            true,
		"var.name ==\n  'db'\n  or host.family == 'debian'\n": true,
		`host.os in ["linux", "darwin"]`:                      true,
		`var.name in var.sites`:                               false,
		`"a" in var.sites && 443 in var.ports`:                true,
		`1 in var.mixed && "a" in var.mixed`:                  true,
		`"x" in var.empty`:                                    false,
		`env.CI == "true" && env.NONE == ""`:                  true,
		`env.CI` + ` != ""`:                                   true,
		`var.site.port == 80 and var.site["port"] == 80`:      true,
		`"tls" in var.site and not ("acme" in var.site)`:      true,
		`var.site.tls.key startsWith "k"`:                     true,
		`host.interfaces.eth0.mtu >= 1500`:                    true,
		`var.sites[0] == "a" && len(var.sites) == 2`:          true,
		`any(var.hosts, .up) && not all(var.hosts, .up)`:      true,
		`count(var.hosts, {.name matches "^h[0-9]$"}) == 2`:   true,
		`any(var.hosts, any(var.sites, # == "b"))`:            true,
		`host.cpus in 2..8`:                                   true,
		`int(split(host.version, ".")[0]) >= 12`:              true,
		`float(host.version) > 12.4 && var.half < 1`:          true,
		`var.on ? var.size == 3 : false`:                      true,
		`upper(var.name) == "WEB"`:                            true,
		`var.name contains "we" && hasSuffix(var.name,"b")`:   true,
		`int(var.zero) == 0`:                                  true,
		`get(var.site, "port") == 80`:                         true,
		`each.key == 1 && each.value.on`:                      true,
		`(var.size + 1) % 2 == 0`:                             true,
	} {
		c, err := condition.Compile(text, names())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for range 2 { // it can be asked again
			if got, err := c.Holds(); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", text, got, err, want)
			}
		}
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	t.Parallel()
	_, err := condition.Compile(`var.frobnicate == 1 and host.famly == foo(3)`, names())
	var got []string
	wrong, _ := err.(*condition.Error)
	for ; wrong != nil; wrong = wrong.Next {
		got = append(got, wrong.Error())
	}
	want := []string{`1:5: var.frobnicate is not defined; declare it under vars`, `1:30: host.famly is not defined; did you mean host.family?`, `1:39: unknown function "foo" in a condition`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{``, `1:1: the condition is empty; leave out a condition that is always true`},
		{" \n", `1:1: the condition is empty; leave out a condition that is always true`},
		{`var.nmae == "x"`, `1:5: var.nmae is not defined; did you mean var.name?`},
		{`var.frobnicate`, `1:5: var.frobnicate is not defined; declare it under vars`},
		{"host.os == 'x' or\n  host.distro == 'é' or host.famly == 'x'", `2:8: host.distro is not defined; settle knows cpus, family, interfaces, os, version`},
		{"'é' == 'é' or host.famly == 'x'", `1:20: host.famly is not defined; did you mean host.family?`},
		{`vars.name == "x"`, `1:1: unknown name "vars"; did you mean "var"?`},
		{`facts.os == "x"`, `1:1: unknown name "facts"; did you mean "host"?`},
		{`ohst.os == "x"`, `1:1: unknown name "ohst"; did you mean "host"?`},
		{`host.os == debian`, `1:12: unknown name "debian"; write "debian" in quotes if it is a text`},
		{`name == "x"`, `1:1: unknown name "name"; did you mean var.name?`},
		{`os == "x"`, `1:1: unknown name "os"; did you mean host.os?`},
		{`x.y.z == 1`, `1:1: unknown name "x"; write "x" in quotes if it is a text`},
		{`var == 1`, `1:1: "var" alone is not a value; write var.NAME`},
		{`var[env.CI] == 1`, `1:9: want a name after var, got an expression; write var.NAME`},
		{`$env.var.name == "x"`, `1:1: unknown name "$env"; did you mean "env"?`},
		{`var.unset == "x"`, `1:5: nobody gives it; give it`},
		{`var.site.prot == 80`, `1:10: var.site has no key "prot"; did you mean "port"?`},
		{`var.site.tls.crt == ""`, `1:14: var.site.tls has no key "crt"`},
		{`var.name.x == 80`, `1:10: a text has no key "x"`},
		{`${var.name} == "x"`, `1:1: a condition names values without ${}; write var.NAME == "x"`},
		{`var.on and {{ x }}`, `1:12: a condition names values without {{}}; write var.NAME == "x"`},
		{`var.size == "3"`, `1:10: "==" does not go with an integer and a text; int(…) turns a text into a number, string(…) a number into a text`},
		{`var.name`, `1:1: want true or false, got a text; compare it: var.NAME == "x"`},
		{`env.CI`, `1:1: want true or false, got a text; compare it: var.NAME == "x"`},
		{`not var.name`, `1:1: "not" wants true or false, not a text; compare it: var.NAME == "x"`},
		{`var.on && var.size`, `1:8: "&&" does not go with true or false and an integer; int(…) turns a text into a number, string(…) a number into a text`},
		{`var.mixed[0]`, `1:1: want true or false, got a text; compare it: var.NAME == "x"`},
		{`var.size = 3`, `1:10: "=" does not compare; write ==`},
		{`var.size ==`, `1:11: the condition ends too early`},
		{`(var.on`, `1:7: the condition ends too early`},
		{`var.on)`, `1:7: unexpected ")"; put and, or, or an operator between two values; use onlyif for a command that decides`},
		{`var.size is 3`, `1:10: unexpected "is"; put and, or, or an operator between two values; use onlyif for a command that decides`},
		{`var.name == "x`, `1:15: a quote is not closed`},
		{`now() > 1`, `1:1: unknown function "now" in a condition; a condition has no clock, because the time of the plan is not that of the apply`},
		{`date("2024-01-01") > date("2023-01-01")`, `1:1: unknown function "date" in a condition; a condition has no clock, because the time of the plan is not that of the apply`},
		{`each.valeu`, `1:6: each has no key "valeu"; did you mean "value"?`},
		{`Facts.host.info.platformFamily == "debian"`, `1:1: unknown name "Facts"; write host.family`},
		{`Data.size == 3`, `1:1: unknown name "Data"; write var.size`},
		{`Environ.CI == ""`, `1:1: unknown name "Environ"; write env.CI`},
		{`Facts.host.uptime > 3`, `1:1: unknown name "Facts"; did you mean "host"?`},
		{`lookup("data.size", 3) == 3`, `1:1: unknown function "lookup" in a condition; write var.size`},
		{`lookup() == 3`, `1:1: unknown function "lookup" in a condition; write var.NAME for data, host.NAME for facts`},
		{`lookup("facts.os") == "x"`, `1:1: unknown function "lookup" in a condition; write var.NAME for data, host.NAME for facts`},
		{`uper(var.name) == ""`, `1:1: unknown function "uper" in a condition; did you mean "upper"?`},
		{`repeat("x", 1000000) == ""`, `1:1: unknown function "repeat" in a condition`},
		{`reduce(var.sites, #acc + #) == ""`, `1:1: unknown function "reduce" in a condition`},
		{`var.name.foo()`, `1:10: a value cannot be called`},
		{`let x = 1; x == 1`, `1:5: a condition can only compare values`},
		{`true; true`, `1:1: a condition can only compare values`},
		{`any(1..1000, # > 3)`, `1:6: ".." is allowed only after in; write VALUE in FROM..TO`},
		{`any(var.name, # == "w")`, `1:9: any wants a list, not a text`},
		{`any(var.sites, #)`, `1:16: want true or false for each item, got a text`},
		{`var.sites[5] == "a"`, `1:10: the list has no item 5; items count from 0`},
		{`int(host.version) > 12`, `1:1: "12.5" is not a number`},
		{`var.name matches "("`, "1:10: invalid regular expression: missing closing ): `(`"},
		{strings.Repeat("(", 4096) + "x", `1:1: the condition has more than 4096 bytes; compute the value outside and set a variable`},
		{`3 % 0 == 1`, `1:3: invalid condition: integer divide by zero`},
		{`all(var.long, all(var.long, # != "x"))`, `1:1: the condition would take too long: it visits every item of long lists; compute the value outside and set a variable`},
	} {
		n := names()
		n.Vars = append(n.Vars, "long")
		n.Var = func(name string) (any, *condition.Error) {
			switch name {
			case "unset":
				return nil, &condition.Error{Message: "nobody gives it", Suggestion: "give it"}
			case "long":
				return make([]any, 100_000), nil
			}
			return values[name], nil
		}
		got := "nothing wrong"
		if c, err := condition.Compile(tt.text, n); err != nil {
			got = err.Error()
		} else if _, err := c.Holds(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// Values are asked for only where they are named: a host is not looked at for
// nothing.
func TestValuesAreAskedForOnce(t *testing.T) {
	t.Parallel()
	var asked []string
	n := names()
	n.Host = func(name string) (any, *condition.Error) { asked = append(asked, name); return facts[name], nil }
	n.Var = n.Host
	if _, err := condition.Compile(`"var.size" == env.CI`, n); err != nil || asked != nil {
		t.Errorf("asked for %v, %v", asked, err)
	}
	c, err := condition.Compile(`host.os == "a" || host.os == env.CI || host.cpus > 3`, n)
	if err != nil || fmt.Sprint(asked) != "[os cpus]" {
		t.Fatalf("asked for %v, %v", asked, err)
	}
	if got := fmt.Sprint(c.Uses()); got != "[{host.os linux} {env.CI true} {host.cpus 4}]" {
		t.Errorf("used %s", got)
	}
}

// A condition serves every item of one shape.
func TestFor(t *testing.T) {
	t.Parallel()
	item := func(key any, on bool, sites ...any) map[string]any {
		return map[string]any{"key": key, "value": map[string]any{"on": on, "sites": sites}}
	}
	n := names()
	n.Each = item(0, true, "a")
	c, err := condition.Compile(`each.value.on and each.key < var.size and "a" in each.value.sites`, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		each  map[string]any
		holds bool
	}{{item(1, true, "b", "a"), true}, {item(1, false, "a"), false}, {item(4, true, "a"), false}, {n.Each, true}} {
		if condition.Shape(tt.each) != condition.Shape(n.Each) {
			t.Errorf("%v has another shape", tt.each)
		}
		other, err := c.WithEach(tt.each)
		if err != nil {
			t.Fatal(err)
		}
		if holds, err := other.Holds(); err != nil || holds != tt.holds {
			t.Errorf("%v: %v, %v", tt.each, holds, err)
		}
	}
	for _, each := range []map[string]any{item("k", true, "a"), item(0, true, 1), item(0, true, "a", 1), item(0, true), {"key": 0, "value": map[string]any{"on": true}}} {
		if condition.Shape(each) == condition.Shape(n.Each) {
			t.Errorf("%v has the shape of %v", each, n.Each)
		}
	}
	n.Each = item(0, true, make([]any, 1)...)
	c, err = condition.Compile(`any(each.value.sites, any(each.value.sites, # == nil))`, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.WithEach(item(0, true, make([]any, 100_000)...)); err == nil {
		t.Error("a list may be as long as it likes")
	}
}

func TestEachWithoutAnItem(t *testing.T) {
	t.Parallel()
	_, err := condition.Compile(`each.key == 1`, condition.Names{})
	if err == nil || err.Error() != "1:1: each is only available with for_each" {
		t.Error(err)
	}
}

// FuzzCondition compiles anything: it holds or not, the same every time, or it
// is wrong at a place that is in it and in words for people.
func FuzzCondition(f *testing.F) {
	for _, text := range []string{`var.name == "x"`, `any(var.hosts, .name == "a")`, "host.os ==\n'é'", `1 in 1..3`, `filter(map(var.hosts, .name), # > "")[0] == ""`, `var.site?.x ?? 1`, "`x` | upper()", `max(1,2) ** 3`, `"\u00e9" == b"x"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var first string
		for range 2 {
			said := ""
			c, err := condition.Compile(text, names())
			if err == nil {
				var holds bool
				holds, err = c.Holds()
				said = fmt.Sprint(holds)
			}
			var wrong *condition.Error
			if err != nil && (!errors.As(err, &wrong) || wrong.Message == "" || wrong.Line < 1 || wrong.Line > 1+strings.Count(text, "\n") || wrong.Column < 1) {
				t.Fatalf("%q: %#v", text, err)
			}
			if err != nil {
				said = err.Error()
			}
			if first == "" {
				first = said
			} else if said != first {
				t.Errorf("%q: first %s, then %s", text, first, said)
			}
		}
	})
}

// What is nested as deep as a condition can be is no burden.
func TestDeepConditions(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"brackets":     strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000),
		"not":          strings.Repeat("!", 4000) + "true",
		"lists":        strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + " == []",
		"alternatives": strings.Repeat("true?", 800) + "true",
		"predicates":   strings.Repeat("any(var.sites,", 200) + "true" + strings.Repeat(")", 200),
		"steps":        "var" + strings.Repeat(".a", 2000),
	} {
		c, err := condition.Compile(text, names())
		if err == nil {
			_, err = c.Holds()
		}
		if err != nil && strings.Contains(err.Error(), "invalid condition: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A guard before a missing key is Expr's own: in, ?. and ?? are no mistakes.
func TestGuardedKeysMayBeMissing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"prot" in var.site && var.site.prot == 80`: false, `"port" in var.site && var.site.port == 80`: true,
		`var.site?.prot == 80`: false, `var.site?.prot?.more == nil`: true, `(var.site.prot ?? 80) == 80`: true, `(var.site.prot ?? {}) == {}`: true, `var.site?.port == 80`: true,
	} {
		c, err := condition.Compile(text, names())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if holds, err := c.Holds(); holds != want || err != nil {
			t.Errorf("%s: %v, %v", text, holds, err)
		}
	}
}

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`version("1.10") > version("1.9")`: true, `version("1.10") <= version("1.9")`: false, `version("9") < version("9.1")`: true, `version("1.0-rc1") < version("1.0")`: true,
		`version("1.0~beta2") < version("1.0~beta10")`: true, `version("22.04") == version("22.4")`: true, `version("1.0.0") != version("1.0.1")`: true, `version("2.a") < version("2.1")`: true,
	} {
		c, err := condition.Compile(text, names())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if holds, err := c.Holds(); holds != want || err != nil {
			t.Errorf("%s: %v, %v", text, holds, err)
		}
	}
	for text, want := range map[string]string{
		`var.name < "9"`:                `1:10: "<" compares two texts letter by letter; write version(…) for versions, or int(…) for numbers, around both`,
		`any(var.sites, # >= var.name)`: `1:18: ">=" compares two texts letter by letter; write version(…) for versions, or int(…) for numbers, around both`,
	} {
		if _, err := condition.Compile(text, names()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`version("1") > "1"`, `version(1) > version(2)`, `version("1", "2") > version("1")`} {
		if _, err := condition.Compile(text, names()); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
