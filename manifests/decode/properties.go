package decode

import (
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/outline"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// readProperties reads the properties that a resource gives itself.
func (d *decoder) readProperties(frame eval.Frame, item outline.Item, body *model.Body, r *resource) {
	if item.Properties == nil {
		return
	}
	named := body.Name == "" // whether the name key has been seen
	for key, under := range parse.Pairs(item.Properties) {
		p := item.Type.ByName[key.Value]
		switch {
		case key == item.Except:
		case p == nil:
			d.refuseProperty(frame, item.Type, key)
			r.wrong = entry.Put(r.wrong, "", true)
		case p.Name == "for_each": // it made this resource
		case p.Name == "name":
			if named = named || frame.File.Pos(under) == body.Pos; !named {
				d.refuse(frame.In("name").Subject, frame.File.Pos(key), r.found.Uses, "the name is given already: "+strconv.Quote(body.Name), "drop one of them, or make this one an alias")
			}
		default:
			d.readProperty(frame.In(p.Name), p, key, under, body, r)
		}
	}
}

// readProperty reads one property into the body, and returns whether it is valid.
func (d *decoder) readProperty(frame eval.Frame, p *model.Property, key, under *yaml.Node, body *model.Body, r *resource) bool {
	v, found, ok := d.env.Read(frame, p, key, under)
	r.add(found)
	if ok {
		body.Values[p.Name] = v
		if p.Kind == model.CommandLine && v.Shape != model.List || p.Kind == model.CommandLines {
			d.env.WarnQuoted(frame, v)
		}
		if p.Name == "source" && p.Kind == model.Line {
			d.env.WarnSource(frame, v)
		}
	} else {
		r.wrong = entry.Put(r.wrong, p.Name, true)
	}
	return ok
}

// add adds the values of one property to those of the resource.
func (r *resource) add(found eval.Found) {
	r.found.Uses = append(r.found.Uses, found.Uses...)
	r.found.Missing = append(r.found.Missing, found.Missing...)
}
