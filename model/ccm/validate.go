package ccm

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
)

// checks are the functions of @validate. Each takes a text, and isRegex a pattern too.
var checks = map[string]func(value string, more ...string) bool{
	"isIP":   func(v string, _ ...string) bool { _, err := netip.ParseAddr(v); return err == nil },
	"isIPv4": func(v string, _ ...string) bool { a, err := netip.ParseAddr(v); return err == nil && a.Is4() },
	"isIPv6": func(v string, _ ...string) bool { a, err := netip.ParseAddr(v); return err == nil && a.Is6() },
	"isInt":  func(v string, _ ...string) bool { _, err := strconv.ParseInt(v, 10, 64); return err == nil },
	"isFloat": func(v string, _ ...string) bool {
		_, err := strconv.ParseFloat(v, 64)
		return err == nil
	},
	"isDuration":  func(v string, _ ...string) bool { return durationPattern.MatchString(v) },
	"isShellSafe": func(v string, _ ...string) bool { return !strings.ContainsAny(v, "`$;|&<>(){}[]*?!#~'\"\\\n") },
	"isHostname":  func(v string, _ ...string) bool { return isHostname(v) },
	"isFQDN":      func(v string, _ ...string) bool { return isHostname(v) && strings.Contains(v, ".") },
	"isRegex": func(v string, more ...string) bool {
		if len(more) != 1 {
			return false
		}
		matched, err := regexp.MatchString(more[0], v)
		return err == nil && matched
	},
}

// otherNames are the second names of the checks.
var otherNames = map[string]string{
	"is_ip": "isIP", "is_ipv4": "isIPv4", "is_ipv6": "isIPv6", "is_int": "isInt", "is_float": "isFloat",
	"is_duration": "isDuration", "is_regex": "isRegex", "is_shellsafe": "isShellSafe", "is_hostname": "isHostname", "is_fqdn": "isFQDN",
}

var (
	durationPattern = regexp.MustCompile(`^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|D|w|W|M|y|Y))+$`)
	labelPattern    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
)

func isHostname(v string) bool {
	if v == "" || len(v) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(v, "."), ".") {
		if !labelPattern.MatchString(label) {
			return false
		}
	}
	return true
}

// Validate reports whether a value passes the condition of @validate. It fails for a
// condition that is not valid.
func Validate(condition string, value any) (bool, error) {
	options := []expr.Option{expr.Env(map[string]any{"value": ""}), expr.AsBool()}
	add := func(name string, check func(string, ...string) bool) {
		options = append(options, expr.Function(name, func(params ...any) (any, error) {
			texts := make([]string, len(params))
			for i, p := range params {
				texts[i] = fmt.Sprint(p)
			}
			if len(texts) == 0 {
				return false, fmt.Errorf("%s wants a value", name)
			}
			return check(texts[0], texts[1:]...), nil
		}, new(func(...any) bool)))
	}
	for name, check := range checks {
		add(name, check)
	}
	for name, of := range otherNames {
		add(name, checks[of])
	}
	program, err := expr.Compile(condition, options...)
	if err != nil {
		return false, firstLine(err)
	}
	result, err := expr.Run(program, map[string]any{"value": fmt.Sprint(value)})
	if err != nil {
		return false, firstLine(err)
	}
	holds, _ := result.(bool)
	return holds, nil
}
