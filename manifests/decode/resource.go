package decode

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/outline"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// decodeResource decodes one resource: its own properties, with defaults for those
// that it does not have.
func (d *decoder) decodeResource(f file, item outline.Item, r resource, defs *defaults) {
	v := item.Type
	body := d.resetBody(model.Ref{Type: v.Name, Name: r.name.Text}, r.name.Pos, f.base)
	body.Named = r.name.Value
	frame := eval.Frame{File: f.File, Dir: f.base.Dir, Ref: &body.Ref, Item: r.each, Subject: entry.Subject{ID: body.Ref.String(), Property: "name"}}
	if body.Name == schema.Reserved {
		d.refuse(frame.Subject, body.Pos, r.found.Uses, "a resource cannot be called defaults", "give it another name")
		if item.Properties != nil {
			d.checkNameless(f, item, r.each, r.found.Uses)
		}
		return
	}
	since := d.sink.Mark()
	d.readProperties(frame, item, body, &r)
	d.inherit(frame, v, defs, body, &r)
	if !d.withinTextLimit(frame.Subject, body, r.found.Uses) {
		d.addUnread(body.Ref)
		return
	}
	spec, off := d.runType(frame, v, body, &r)
	if body.Bool("sensitive") || r.wrong["sensitive"] {
		d.redactSince(v, since)
	}
	d.add(v, body, frame.ID, off, spec, r)
}

// resetBody prepares the shared body for the next resource. The entries must not
// keep anything of it but values.
func (d *decoder) resetBody(ref model.Ref, pos model.Pos, base model.Base) *model.Body {
	clear(d.body.Values)
	d.body = model.Body{Ref: ref, Pos: pos, Base: base, Values: d.body.Values}
	return &d.body
}

// runType evaluates the conditions of a resource and lets its type decode it. It
// returns the result, and why the resource is off, "" when it is not.
func (d *decoder) runType(frame eval.Frame, v *schema.Vocabulary, body *model.Body, r *resource) (spec model.Spec, off string) {
	if v.Has("command") && body.Bool("sensitive") && !body.Has("command") && !r.wrong["command"] {
		body.Refuse("sensitive", "sensitive needs command: the name is shown", "move the command from the name to command:")
	}
	if v.Has("command") && !body.Has("command") {
		d.env.WarnQuoted(frame, body.Named)
	}
	off, found := d.env.SkipReason(frame, body.Values, r.wrong)
	r.add(found)
	body.Off = off != ""
	if !body.Off {
		d.refuseMissing(r.found)
	}
	spec = v.Decode(body)
	refuseUnfilled(v, body, r.found.Uses)
	d.takeProblems(body, r)
	return spec, off
}

// checkNameless reads the properties of a resource without a valid name, to report
// their mistakes. Problems that may follow from the missing name are not reported.
func (d *decoder) checkNameless(f file, item outline.Item, each *eval.Item, uses []model.ValueUse) {
	v := item.Type
	if !v.Known() {
		return
	}
	body := model.Body{Ref: model.Ref{Type: v.Name}, Pos: f.Pos(item.Properties), Base: f.base, Values: map[string]model.Value{}}
	since := d.sink.Mark()
	frame := eval.Frame{File: f.File, Dir: f.base.Dir, Ref: &body.Ref, Item: each}
	r := resource{found: eval.Found{Uses: slices.Clone(uses)}}
	d.readProperties(frame, item, &body, &r)
	r.wrong = entry.Put(r.wrong, "", true)
	sensitive := body.Bool("sensitive") || r.wrong["sensitive"]
	off, found := d.env.SkipReason(frame, body.Values, r.wrong)
	if r.add(found); off == "" {
		d.refuseMissing(r.found)
	}
	v.Decode(&body)
	for property := range v.ByName {
		if !body.Has(property) {
			r.wrong[property] = true
		}
	}
	for _, list := range []model.Problems{body.Problems, body.Warnings} {
		for i := range list {
			list[i].ID = ""
		}
	}
	d.takeProblems(&body, &r)
	if sensitive {
		d.redactSince(v, since)
	}
}

// add adds a decoded resource to the entries.
func (d *decoder) add(v *schema.Vocabulary, body *model.Body, id, off string, spec model.Spec, r resource) {
	n := len(d.out.Resources)
	if off == "" { // on this machine another resource may write the same paths
		for _, c := range body.Claims {
			d.out.Claims = append(d.out.Claims, entry.PathClaim{Resource: n, PathClaim: c})
		}
		for _, path := range body.Reads {
			d.out.Reads = append(d.out.Reads, entry.ReadPath{Resource: n, Path: path})
		}
		if body.Occupied.Path != "" {
			d.out.Occupied = append(d.out.Occupied, entry.OccupiedPath{Resource: n, OccupiedPath: body.Occupied})
		}
	}
	d.out.IDs = append(d.out.IDs, id)
	d.out.Unrolled = append(d.out.Unrolled, r.each != nil)
	d.addLinks(body, n)
	d.out.Resources = append(d.out.Resources, model.Resource{
		Ref: body.Ref, Pos: body.Pos,
		Alias: body.Text("alias"), Description: body.Text("description"), Tags: texts(body.Each("tags")),
		OnRefresh: onRefresh(body), Tries: max(1, body.Values["tries"].Int), TrySleep: trySleep(body),
		Sensitive: body.Bool("sensitive"), IgnoreFailure: body.Bool("ignore_failure"), Off: off, Values: listUses(body, r.found.Uses), Spec: spec,
	})
	d.addSecrets(v, body)
	if d.KeepBodies {
		d.out.Bodies = append(d.out.Bodies, keepBody(body))
	}
}

// addLinks adds the references of a resource to others.
func (d *decoder) addLinks(body *model.Body, n int) {
	for i, property := range entry.LinkProperties {
		for _, ref := range body.Each(property) {
			d.out.Links[i] = append(d.out.Links[i], entry.Link{From: n, Text: ref.Text, Pos: ref.Pos, ByDefault: body.Values[property].Default})
		}
	}
	if v := body.Values["refreshonly"]; v.Bool {
		d.out.RefreshOnly = append(d.out.RefreshOnly, entry.Link{From: n, Pos: v.Pos})
	}
	if (body.Has("creates") || body.Has("onlyif") || body.Has("unless")) && !body.Has("on_refresh") {
		d.out.Guarded = entry.Put(d.out.Guarded, n, true)
	}
	if body.Has("alias") {
		d.out.AliasPos = entry.Put(d.out.AliasPos, n, body.Values["alias"].Pos)
	}
}

// addSecrets notes the values that the environment of a resource gives to secrets,
// and those that its type never shows.
func (d *decoder) addSecrets(v *schema.Vocabulary, body *model.Body) {
	for _, value := range body.Secrets {
		d.out.Secrets.Add(value)
	}
	if len(d.Secrets) == 0 {
		return
	}
	for _, property := range v.Environments {
		for _, pair := range body.Values[property].Pairs {
			if slices.Contains(d.Secrets, pair.Key) {
				d.out.Secrets.Add(pair.Value.Text)
			}
		}
	}
}

// refuse records a problem. uses are named in its message where they caused it.
func (d *decoder) refuse(s entry.Subject, pos model.Pos, uses []model.ValueUse, message, suggestion string) {
	d.sink.Refuse(entry.Attribute(s.Problem(pos, message, suggestion), uses))
}

// refuseMissing reports the expressions of a resource that lead to nothing.
func (d *decoder) refuseMissing(found eval.Found) {
	for _, p := range found.Missing {
		d.sink.Refuse(entry.Attribute(p, found.Uses))
	}
}

// refuseProperty reports a property that the type lacks.
func (d *decoder) refuseProperty(frame eval.Frame, v *schema.Vocabulary, key *yaml.Node) {
	u := v.UnknownProperty(key.Value)
	d.refuse(frame.In(key.Value).Subject, frame.File.Pos(key), nil, u.Message, u.Suggestion)
}

// takeProblems reports the problems and warnings of the type. It leaves out those
// that only follow from a property that could not be read.
func (d *decoder) takeProblems(body *model.Body, r *resource) {
	for _, p := range body.Problems {
		if r.isIndependent(p) {
			d.sink.Refuse(entry.Attribute(p, r.found.Uses))
		}
	}
	for _, p := range body.Warnings {
		if r.isIndependent(p) {
			d.sink.Warn(entry.Attribute(p, r.found.Uses))
		}
	}
}

// isIndependent reports whether a problem is more than the consequence of a
// property that was refused already.
func (r *resource) isIndependent(p model.Problem) bool {
	return !r.wrong[p.Property] && (p.Property != "" || len(r.wrong) == 0)
}

// quotedText matches the parts of a message that the user wrote.
var quotedText = regexp.MustCompile(`"(?:\\.|[^"\\])*"`)

// redactSince redacts the sensitive properties of a resource in the messages about it.
func (d *decoder) redactSince(v *schema.Vocabulary, since entry.Mark) {
	d.sink.EditSince(since, func(p *model.Problem) {
		if v.IsSensitive(p.Property) {
			p.Message = quotedText.ReplaceAllString(p.Message, "***")
		}
	})
}

// withinTextLimit counts the text of a resource. It returns false when all of them
// exceed the limit, which it reports once.
func (d *decoder) withinTextLimit(s entry.Subject, body *model.Body, uses []model.ValueUse) bool {
	before := d.weight
	for _, v := range body.Values {
		d.weight += weigh(v)
	}
	if d.weight <= entry.MaxText {
		return true
	}
	if before <= entry.MaxText {
		d.refuse(entry.Subject{ID: s.ID}, body.Pos, uses, "the resources have more than 128 MiB of text together, by defaults, aliases and for_each", "put long texts into files")
	}
	return false
}

// weigh returns the bytes of text in a value.
func weigh(v model.Value) int {
	sum := len(v.Text)
	for _, item := range v.Items {
		sum += weigh(item)
	}
	for _, pair := range v.Pairs {
		sum += len(pair.Key) + weigh(pair.Value)
	}
	return sum
}

// refuseUnfilled refuses values in commands that the type has not made words of:
// they would not end up in the command.
func refuseUnfilled(v *schema.Vocabulary, body *model.Body, uses []model.ValueUse) {
	if len(uses) == 0 || len(body.Problems) > 0 {
		return
	}
	check := func(property string, value model.Value) {
		if value.Placeholders.Each() != nil && value.Placeholders.Filled == "" {
			body.RefuseAt(value.Pos, property, fmt.Sprintf("%s cannot stand in this command", value.Placeholders.Items[0].Expr), "hand it over in environment")
		}
	}
	for _, word := range v.Words {
		for _, value := range body.Each(word) {
			check(word, value)
		}
	}
	if v.Has("command") && !body.Has("command") {
		check("", body.Named)
	}
}

// listUses returns the values that were put into a resource, redacted in a
// sensitive one.
func listUses(body *model.Body, uses []model.ValueUse) []model.ValueUse {
	if len(uses) == 0 {
		return nil
	}
	if body.Bool("sensitive") {
		for i := range uses {
			uses[i].Value = "***"
		}
	}
	return uses
}

// keepBody returns a copy of a body that the next resource does not change.
func keepBody(body *model.Body) model.Body {
	kept := *body
	kept.Values = make(map[string]model.Value, len(body.Values))
	for word, v := range body.Values {
		kept.Values[word] = v
	}
	return kept
}

// texts returns the texts of values.
func texts(values []model.Value) []string {
	var list []string
	for _, v := range values {
		list = append(list, v.Text)
	}
	return list
}

// onRefresh returns the meaning of a refresh. Running is the default.
func onRefresh(body *model.Body) model.OnRefresh {
	if body.Text("on_refresh") == "check" {
		return model.RefreshChecks
	}
	return model.RefreshRuns
}

// trySleep returns the pause between tries, one second by default.
func trySleep(body *model.Body) time.Duration {
	if body.Has("try_sleep") {
		return body.Duration("try_sleep")
	}
	return time.Second
}
