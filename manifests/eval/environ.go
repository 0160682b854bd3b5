package eval

import "strings"

// environ is the environment of settle. It remembers which variables were asked
// for: only their values can have come into the manifest.
type environ struct {
	list   []string          // KEY=VALUE
	values map[string]string // by name; filled on first use
	asked  map[string]bool
}

// get returns a variable. Of two with one name the first counts, as for a process.
func (e *environ) get(name string) (string, bool) {
	if e.values == nil {
		e.values, e.asked = make(map[string]string, len(e.list)), map[string]bool{}
		for _, pair := range e.list {
			key, text, ok := strings.Cut(pair, "=")
			if _, twice := e.values[key]; ok && !twice {
				e.values[key] = text
			}
		}
	}
	e.asked[name] = true
	text, ok := e.values[name]
	return text, ok
}
