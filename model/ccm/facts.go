package ccm

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// factNames maps the paths of CCM's facts about the host to settle's facts.
var factNames = map[string]string{
	"hostname": "hostname", "os": "os", "platform": "distribution", "platformFamily": "family", "platformVersion": "version",
	"kernelVersion": "kernel", "kernelArch": "arch", "virtualizationSystem": "virtualization",
}

// machineNames are the machine's names of the architectures that have another one
// in settle's facts.
var machineNames = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "i686"}

// Facts returns the facts of a machine under CCM's names, from settle's facts. given
// are facts from outside: they are added under the names that they have.
func Facts(ours, given map[string]any) map[string]any {
	info := map[string]any{}
	for theirs, name := range factNames {
		if v, ok := ours[name]; ok {
			info[theirs] = v
		}
	}
	if arch, ok := ours["arch"].(string); ok {
		if machine := machineNames[arch]; machine != "" {
			info["kernelArch"] = machine
		}
	}
	info["virtualizationRole"] = ""
	if system, ok := ours["virtualization"].(string); ok && system != "" {
		info["virtualizationRole"] = "guest"
	}
	facts := map[string]any{"host": map[string]any{"info": info}, "network": map[string]any{"interfaces": interfaces(ours["interfaces"])}}
	if mb, ok := ours["memory_mb"].(int); ok {
		facts["memory"] = map[string]any{"virtual": map[string]any{"total": mb << 20}}
	}
	return Merge(facts, given)
}

// interfaces returns the interfaces of settle's facts, a map by name, as CCM's list.
func interfaces(ours any) []any {
	list := []any{}
	byName, _ := ours.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		one := map[string]any{"name": name, "addrs": []any{}}
		if i, ok := byName[name].(map[string]any); ok {
			if mtu, ok := i["mtu"]; ok {
				one["mtu"] = mtu
			}
			if mac, ok := i["mac"]; ok {
				one["hardwareAddr"] = mac
			}
			addresses, _ := i["addresses"].([]any)
			addrs := make([]any, len(addresses))
			for n, a := range addresses {
				addrs[n] = map[string]any{"addr": a}
			}
			one["addrs"] = addrs
		}
		list = append(list, one)
	}
	return list
}

// Merge returns a map with another one merged into it: maps are merged by key, lists
// are joined, and any other value is replaced.
func Merge(below, above map[string]any) map[string]any {
	merged := maps.Clone(below)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, v := range above {
		switch v := v.(type) {
		case map[string]any:
			if under, ok := merged[key].(map[string]any); ok {
				merged[key] = Merge(under, v)
				continue
			}
		case []any:
			if under, ok := merged[key].([]any); ok {
				merged[key] = slices.Concat(under, v)
				continue
			}
		}
		merged[key] = v
	}
	return merged
}

// Paths returns the paths to every value in a map, sorted, for suggestions.
func Paths(m map[string]any) []string {
	var all []string
	var visit func(prefix string, m map[string]any)
	visit = func(prefix string, m map[string]any) {
		for key, v := range m {
			if under, ok := v.(map[string]any); ok && strings.Count(prefix, ".") < 5 {
				visit(prefix+key+".", under)
			} else {
				all = append(all, prefix+key)
			}
		}
	}
	visit("", m)
	slices.Sort(all)
	return all
}

// Normalize returns a value of the library as one of strings, ints, float64s, bools,
// []any and map[string]any. A number without a fraction becomes an int, and values
// of other types, such as times, become their text.
func Normalize(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v)
		}
		return v
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt() && r.Type().PkgPath() == "":
		return int(r.Int())
	case r.CanUint() && r.Type().PkgPath() == "" && r.Uint() <= math.MaxInt:
		return int(r.Uint())
	case r.Kind() == reflect.Slice || r.Kind() == reflect.Array:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = Normalize(r.Index(i).Interface())
		}
		return list
	case r.Kind() == reflect.Map && r.Type().Key().Kind() == reflect.String:
		m := make(map[string]any, r.Len())
		for _, key := range r.MapKeys() {
			m[key.String()] = Normalize(r.MapIndex(key).Interface())
		}
		return m
	}
	return fmt.Sprint(v)
}
