package decode

import (
	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/outline"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// listItems returns the items of a for_each. It returns false after reporting what
// is wrong with it.
func (d *decoder) listItems(f file, item outline.Item, n *yaml.Node) ([]eval.Item, bool) {
	id := model.Ref{Type: item.Type.Name, Name: item.Name.Value}.String()
	frame := eval.Frame{File: f.File, Subject: entry.Subject{ID: id, Property: "for_each"}}
	v, found, ok := d.env.Evaluate(frame, n)
	if !ok {
		return nil, false
	}
	var items []eval.Item
	switch v := v.(type) {
	case []any:
		for i, under := range v {
			items = append(items, eval.Item{Key: i, Value: under})
		}
	case value.Map:
		for _, e := range v {
			items = append(items, eval.Item{Key: e.Key, Value: e.Value})
		}
	default:
		suggestion := "write its items in brackets: [a, b]"
		if value.HasExpression(n.Value) {
			suggestion = "declare a variable of type: list"
		}
		d.refuse(frame.Subject, f.Pos(n), found.Uses, "want a list or a map, got "+value.Describe(v), suggestion)
		return nil, false
	}
	if d.unrolled += len(items); d.unrolled > entry.MaxUnrolled {
		d.refuse(frame.Subject, f.Pos(n), found.Uses, "for_each makes more than 100,000 resources", "split the manifest")
		return nil, false
	}
	return items, true
}
