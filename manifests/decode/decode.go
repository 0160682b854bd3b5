// Package decode turns the resources of a manifest into entries: it puts defaults
// and values into their properties, unrolls for_each, and has each type decode what
// a resource says. It follows no reference to another resource.
package decode

import (
	"slices"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/outline"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// Options are what Decode knows of the manifest around the resources.
type Options struct {
	Types      schema.Types
	CleanEnv   bool
	Secrets    []string // names of secrets
	KeepBodies bool     // for rendering
}

// Section is a file with the directory that relative paths in it are relative to.
type Section struct {
	outline.Section
	Dir string // absolute
}

// Decode decodes the resources of all files, in order. Problems go to the sink.
func Decode(sections []Section, env *eval.Env, opts Options, sink *entry.Sink) entry.Entries {
	d := &decoder{Options: opts, env: env, sink: sink, body: model.Body{Values: map[string]model.Value{}}}
	for _, s := range sections {
		f := file{
			File: s.File,
			base: model.Base{Dir: s.Dir, CCM: env.IsCCM(), CleanEnv: opts.CleanEnv},
		}
		f.defaults = d.readFileDefaults(f, s.Defaults)
		d.decodeFile(f, s.Section)
	}
	return d.out
}

// decoder collects the entries of a manifest.
type decoder struct {
	Options
	env      *eval.Env
	sink     *entry.Sink
	out      entry.Entries
	unrolled int // resources made by for_each
	weight   int // bytes of text in all resources
	// body serves one resource after the other. A new one for each, with its map,
	// would take a third of the time of loading.
	body model.Body
}

// file is one file while its resources are decoded.
type file struct {
	*parse.File
	base     model.Base
	defaults map[string]*defaults // by type
}

// decodeFile decodes the resources of one file. The defaults of a list hold up to
// the next list.
func (d *decoder) decodeFile(f file, s outline.Section) {
	var current *defaults // of the present list
	outline.Walk(s, d.Types, d.sink, func(item outline.Item) {
		switch v := item.Type; item.Kind {
		case outline.Start:
			current = f.defaults[v.Name]
			d.out.Resources = slices.Grow(d.out.Resources, item.Count)
		case outline.Defaults:
			current = d.readDefaults(f, v, item.Properties).over(f.defaults[v.Name])
		case outline.Resource:
			d.decodeAll(f, item, current)
		case outline.Nameless:
			d.checkNameless(f, item, nil, nil)
		case outline.Unread:
			d.addUnread(model.Ref{Type: v.Name, Name: item.Name.Value})
		}
	})
}

// addUnread notes a resource that exists but cannot be read.
func (d *decoder) addUnread(ref model.Ref) { d.out.Unread = entry.Put(d.out.Unread, ref, true) }

// decodeAll decodes one resource, or as many as its for_each has items.
func (d *decoder) decodeAll(f file, item outline.Item, defs *defaults) {
	under := parse.Lookup(item.Properties, "for_each")
	if under == nil || !item.Type.Known() {
		d.decodeNamed(f, item, nil, defs)
		return
	}
	items, ok := d.listItems(f, item, under)
	if !ok {
		d.out.Incomplete = entry.Put(d.out.Incomplete, item.Type.Name, true)
		items = []eval.Item{{Unknown: true}}
	}
	for i := range items {
		d.decodeNamed(f, item, &items[i], defs)
	}
}

// decodeNamed reads the name of a resource and decodes the resource.
func (d *decoder) decodeNamed(f file, item outline.Item, each *eval.Item, defs *defaults) {
	frame := eval.Frame{File: f.File, Item: each, Subject: entry.Subject{Property: "name"}}
	name, found, ok := d.env.ReadName(frame, item.Name, item.Type.Has("command"))
	switch {
	case !ok && item.Properties != nil:
		d.checkNameless(f, item, each, found.Uses)
	case !ok:
	case !item.Type.Known():
		d.addUnread(model.Ref{Type: item.Type.Name, Name: name.Text})
	default:
		d.decodeResource(f, item, resource{name: name, each: each, found: found}, defs)
	}
}

// resource is one resource while it is decoded.
type resource struct {
	name  eval.Name
	each  *eval.Item      // the item of for_each that it is made for; nil for none
	found eval.Found      // values in its name and its properties
	wrong map[string]bool // properties that could not be read, with "" for an unknown one
}
