package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources"
)

// completer knows what may stand for a value on one command line.
type completer struct {
	*app
	line *survey
}

// sources say what may stand where the help has this word for it.
var sources = map[string]func(c *completer, text string) answer{
	"MANIFEST":      kindOf(someManifests),
	"FILE":          kindOf(someFiles),
	"DIR":           kindOf(someDirectories),
	"CMD":           kindOf(someFiles),
	"REF":           (*completer).ids,
	"TAG":           (*completer).tags,
	"RUN":           (*completer).runs,
	"FORMAT":        (*completer).formats,
	"FORMAT=FILE":   (*completer).reports,
	"TYPE.PROPERTY": (*completer).words,
	"N":             kindOf(someWords), // nothing that anybody but the user knows
	"TIME":          kindOf(someWords),
	"TEXT":          kindOf(someWords),
	"NAME=VALUE":    kindOf(someWords),
}

func kindOf(k kind) func(*completer, string) answer {
	return func(*completer, string) answer { return answer{kind: k} }
}

// source is the word for a value in sources.
func source(v *kong.Value) string {
	switch {
	case v.Flag != nil:
		return v.Flag.PlaceHolder
	case v.Name == "manifest" && v.IsCumulative(): // validate takes directories too, and so do files of any shell
		return "MANIFEST"
	}
	return strings.ToUpper(v.Name)
}

// value says what may stand for the value of a flag, of which text stands there;
// done is what stands before that in the same word.
func (c *completer) value(flag *kong.Flag, text, done string) answer {
	comma := strings.LastIndexByte(text, ',') + 1
	if !flag.IsSlice() || flag.Tag.Sep != ',' {
		comma = 0
	}
	ans := c.of(flag.Value, text[comma:])
	ans.done = done + text[:comma] + ans.done
	if comma > 0 {
		taken := strings.Split(text[:comma], ",")
		ans.offers = slices.DeleteFunc(ans.offers, func(o offer) bool { return slices.Contains(taken, o.value) })
	}
	return ans
}

// operand says what may stand for an argument.
func (c *completer) operand(at *survey, text string) answer {
	n := len(at.operands)
	all := at.node.Positional
	switch {
	case n < len(all):
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		n = len(all) - 1
	default:
		return answer{kind: someWords}
	}
	if source(all[n]) == "REF" && at.given["all"] != nil { // of settle forget: then it is the manifest
		return answer{kind: someManifests}
	}
	return c.of(all[n], text)
}

// of says what may stand for a value, wherever that stands.
func (c *completer) of(v *kong.Value, text string) answer {
	if v.Enum != "" {
		ans := answer{kind: someWords}
		for _, word := range v.EnumSlice() {
			ans.offers = append(ans.offers, offer{value: word})
		}
		return ans
	}
	if offers := sources[source(v)]; offers != nil {
		return offers(c, text)
	}
	return answer{kind: someWords}
}

// manifests loads what the line names, or no more of it than the names: the
// manifests that can be read at once and have no problem.
func (c *completer) manifests(named bool) []*loaded {
	var paths []string
	for i, operand := range c.line.operands {
		all := c.line.node.Positional
		if len(all) == 0 {
			break
		}
		name := source(all[min(i, len(all)-1)])
		if name == "MANIFEST" || name == "REF" && c.line.given["all"] != nil {
			paths = append(paths, operand)
		}
	}
	in, ok := c.values()
	if !ok {
		return nil
	}
	var list []*loaded
	for _, path := range orDefault(slices.DeleteFunc(paths, func(path string) bool { return path == "" })) {
		if path = atHome(path); !atOnce(path) {
			continue
		}
		if l := c.load(context.Background(), path, order{mode: "list", named: named, inputs: in}); l.refused == nil {
			list = append(list, l)
		}
	}
	return list
}

// values are those that the line gives to its manifests, if they can be had now.
func (c *completer) values() (inputs, bool) {
	var f valueFlags
	for name, to := range map[string]*[]given{"var": &f.Var, "fact": &f.Fact} {
		for _, text := range c.line.given[name] {
			var g given
			if g.UnmarshalText([]byte(text)) != nil {
				return inputs{}, false
			}
			*to = append(*to, g)
		}
	}
	for name, to := range map[string]*[]string{"var-file": &f.VarFile, "facts-file": &f.FactsFile} {
		for _, path := range c.line.given[name] {
			if path = atHome(path); !atOnce(path) {
				return inputs{}, false
			}
			*to = append(*to, path)
		}
	}
	in := c.inputs(context.Background(), f)
	return in, in.refused == nil
}

// atOnce says whether a file can be read without waiting for anybody: what comes
// out of a pipe is for whoever reads it when the line is done.
func atOnce(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// atHome is a path as the shell will give it.
func atHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	return path
}

func (c *completer) ids(string) answer {
	ans := answer{kind: someWords}
	for _, l := range c.manifests(false) {
		for i := range l.manifest.Resources {
			r := &l.manifest.Resources[i]
			ans.offers = append(ans.offers, offer{r.ID(), l.mask.Redact(r.Description)})
		}
	}
	return ans
}

func (c *completer) tags(string) answer {
	count := map[string]int{}
	for _, l := range c.manifests(false) {
		for i := range l.manifest.Resources {
			for _, tag := range l.manifest.Resources[i].Tags {
				count[tag]++
			}
		}
	}
	ans := answer{kind: someWords}
	for _, tag := range slices.Sorted(maps.Keys(count)) {
		ans.offers = append(ans.offers, offer{tag, counted(count[tag], "resource")})
	}
	return ans
}

func (c *completer) runs(string) answer {
	ans := answer{someWords, "", []offer{{"last", "the last one"}}}
	var dir string
	if given := c.line.given["state-dir"]; len(given) > 0 {
		dir = atHome(given[len(given)-1])
	}
	for _, l := range c.manifests(true) {
		if l.manifest.Identity == "" {
			continue
		}
		store, err := c.store(dir, l.manifest.Identity)
		if err != nil {
			continue
		}
		snap, err := store.Read()
		if err != nil {
			continue
		}
		runs := snap.Runs()
		slices.Reverse(runs)
		for i := range runs {
			ans.offers = append(ans.offers, offer{runs[i].Run, pastText(&runs[i])})
		}
	}
	return ans
}

// pastText says in a few words what a run was.
func pastText(p *model.RunRecord) string {
	how := "killed"
	switch {
	case p.Going:
		how = "goes on"
	case p.ExitCode != nil:
		how = fmt.Sprintf("exit %d", *p.ExitCode)
	}
	return fmt.Sprintf("%s by %s at %s, %s", p.Mode, p.User, p.Started.UTC().Format(time.DateTime), how)
}

func (*completer) formats(string) answer {
	ans := answer{kind: someWords}
	for _, name := range render.FormatNames(nil) {
		ans.offers = append(ans.offers, offer{value: name})
	}
	return ans
}

// reports are formats, and behind the = files.
func (*completer) reports(text string) answer {
	if format, _, ok := strings.Cut(text, "="); ok {
		return answer{kind: someFiles, done: format + "="}
	}
	ans := answer{kind: someWords}
	for _, name := range publish.FileFormats() {
		ans.offers = append(ans.offers, offer{value: name + "="})
	}
	return ans
}

// words are what settle explain knows: types and keys, and once a type stands
// there its properties.
func (*completer) words(text string) answer {
	typ, _, _ := strings.Cut(text, ".")
	ans := answer{kind: someWords}
	for _, p := range manifests.Explained(resources.Types(resources.World{})) {
		of, _, dotted := strings.Cut(p.Name, ".")
		if !dotted || of == typ {
			ans.offers = append(ans.offers, offer{p.Name, p.Meaning})
		}
	}
	return ans
}
