package render

import (
	"bytes"
	"encoding/json"

	"github.com/settle-cm/settle/model"
)

// JSON returns exactly one document: the report itself for one manifest, and
// {"runs": [report…]} for several. Arrays are never null.
func JSON(reports []model.Report, _ Options) []byte {
	var d document
	if len(reports) == 1 {
		d.report(&reports[0], "")
	} else {
		d.b.WriteString("{\n  \"runs\": ")
		d.list(len(reports), "  ", func(i int, indent string) { d.report(&reports[i], indent) })
		d.b.WriteString("\n}")
	}
	d.b.WriteByte('\n')
	return d.b.Bytes()
}

// document is JSON that is put together part by part: ten thousand resources
// encoded as one would be in memory three times.
type document struct {
	b    bytes.Buffer
	part bytes.Buffer // being encoded
}

func (d *document) report(r *model.Report, indent string) {
	head := *r
	head.Resources = nil
	d.value(complete(head), indent)
	const empty = "[]" // the resources come last
	at := bytes.LastIndex(d.b.Bytes(), []byte(empty))
	rest := string(d.b.Bytes()[at+len(empty):])
	d.b.Truncate(at)
	d.list(len(r.Resources), indent+"  ", func(i int, indent string) { d.value(completeOutcome(r.Resources[i]), indent) })
	d.b.WriteString(rest)
}

func (d *document) list(n int, indent string, item func(i int, indent string)) {
	d.b.WriteByte('[')
	for i := range n {
		if i > 0 {
			d.b.WriteByte(',')
		}
		d.b.WriteString("\n" + indent + "  ")
		item(i, indent+"  ")
	}
	if n > 0 {
		d.b.WriteString("\n" + indent)
	}
	d.b.WriteByte(']')
}

func (d *document) value(value any, indent string) {
	d.part.Reset()
	encode(&d.part, value, indent)
	d.b.Write(bytes.TrimSuffix(d.part.Bytes(), []byte("\n")))
}

// Document returns any value as an indented JSON document.
func Document(value any) []byte {
	var b bytes.Buffer
	encode(&b, value, "")
	return b.Bytes()
}

// encode escapes nothing for HTML: a command such as a && b stays readable.
func encode(b *bytes.Buffer, value any, indent string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, "  ")
	if err := enc.Encode(value); err != nil {
		panic(err) // our own types: only a mistake in their declaration can fail
	}
}

// complete gives every list of a report at least an empty value.
func complete(r model.Report) model.Report {
	r.Problems = list(r.Problems)
	r.Warnings = list(r.Warnings)
	resources := make([]model.ResourceReport, len(r.Resources))
	for i, o := range r.Resources {
		resources[i] = completeOutcome(o)
	}
	r.Resources = resources
	return r
}

func completeOutcome(o model.ResourceReport) model.ResourceReport {
	o.Tags = list(o.Tags)
	o.RefreshedBy = list(o.RefreshedBy)
	o.Guards = list(o.Guards)
	o.Warnings = list(o.Warnings)
	return o
}

// list makes a missing list an empty one.
func list[L ~[]E, E any](l L) L {
	if l == nil {
		return L{}
	}
	return l
}
