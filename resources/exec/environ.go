package exec

import (
	"slices"
	"strings"
)

// runIDVariable holds the ProcessTag of every child, which its descendants inherit.
const runIDVariable = "SETTLE_RUN_ID"

// environ is an environment: KEY=VALUE, sorted by key, each key once. A sorted
// list is cheap to copy, and every process needs a copy.
type environ []string

func newEnviron(list []string) environ {
	e := make(environ, 0, len(list))
	for _, kv := range list {
		if key, value, ok := strings.Cut(kv, "="); ok && key != "" {
			e.set(key, value)
		}
	}
	return e
}

func (e environ) find(key string) (int, bool) {
	return slices.BinarySearchFunc(e, key, func(kv, key string) int {
		k, _, _ := strings.Cut(kv, "=")
		return strings.Compare(k, key)
	})
}

// get returns the value of a variable, "" when it is not set.
func (e environ) get(key string) string {
	i, ok := e.find(key)
	if !ok {
		return ""
	}
	return e[i][len(key)+1:]
}

func (e *environ) set(key, value string) {
	i, ok := e.find(key)
	if !ok {
		*e = slices.Insert(*e, i, "")
	}
	(*e)[i] = key + "=" + value
}

func (e *environ) setDefault(key, value string) {
	if e.get(key) == "" && value != "" {
		e.set(key, value)
	}
}

// clean returns the clean part of a full environment: PATH and the account.
func clean(full environ) environ {
	var e environ
	for _, key := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", runIDVariable} {
		if i, ok := full.find(key); ok {
			e.set(key, full[i][len(key)+1:])
		}
	}
	e.set("LANG", "C.UTF-8")
	return e
}
