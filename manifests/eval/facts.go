package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// facts are the known facts of the machine.
type facts struct {
	host  func() (map[string]any, error) // may be nil
	given value.Map                      // from outside, over those of the machine
	asked bool
	err   error
	all   value.Map // once asked
}

// factNames are the facts that every machine has.
var factNames = []string{"os", "family", "distribution", "version", "arch", "hostname", "fqdn", "kernel", "cpus", "memory_mb", "virtualization", "interfaces"}

// numberFacts are the names of facts whose values are numbers.
var numberFacts = []string{"cpus", "memory_mb", "mtu"}

// gather asks the machine for its facts, once, and lays the given ones over them.
func (f *facts) gather() error {
	if f.asked {
		return f.err
	}
	f.asked = true
	if f.host != nil {
		host, err := f.host()
		if err != nil {
			f.err = err
			return err
		}
		f.all, _ = value.FromNative(host).(value.Map)
	}
	f.all = f.all.Merge(f.given)
	return nil
}

// readFacts returns the facts that are given from outside. A CCM manifest may be given
// facts of any name.
func readFacts(in Inputs, ccm bool, sink *entry.Sink) value.Map {
	given := value.Map{}
	for _, file := range in.FactFiles {
		f, _ := readValueFile(file, sink)
		for key, n := range f.pairs() {
			if !ccm && !checkFact(key.Value, f.Pos(key), sink) {
				continue
			}
			if v, ok := readData(f.File, n, sink); ok {
				given = given.Merge(value.Map{{Key: key.Value, Value: v}})
			}
		}
	}
	for _, g := range in.Facts {
		path := strings.Split(g.Key, ".")
		pos := model.Pos{File: "--fact"}
		if !ccm && !checkFact(path[0], pos, sink) {
			continue
		}
		var v any = g.Text
		if slices.Contains(numberFacts, path[len(path)-1]) {
			number, err := strconv.Atoi(g.Text)
			if err != nil {
				sink.Refuse(model.Problem{Pos: pos, Message: fmt.Sprintf("%s: want a number, got %q", g.Key, g.Text)})
				continue
			}
			v = number
		}
		given = given.With(path, v)
	}
	return given
}

// checkFact refuses the name of a given fact that does not exist.
func checkFact(name string, pos model.Pos, sink *entry.Sink) bool {
	if slices.Contains(factNames, name) {
		return true
	}
	suggestion := "what is no fact of the machine is a variable: --var"
	if meant := spelling.Suggest(name, factNames); meant != "" {
		suggestion = entry.DidYouMean(meant)
	}
	sink.Refuse(model.Problem{Pos: pos, Message: fmt.Sprintf("no fact is called %q", name), Suggestion: suggestion})
	return false
}
