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

// document is JSON that is written part by part. Encoding ten thousand resources
// as one value needed three times their size in memory.
type document struct {
	b    bytes.Buffer
	part bytes.Buffer // the value that is being encoded
}

func (d *document) report(r *model.Report, indent string) {
	head := *r
	head.Resources = nil
	d.value(withoutNulls(head), indent)
	const empty = "[]" // the list of resources, which comes last
	at := bytes.LastIndex(d.b.Bytes(), []byte(empty))
	rest := string(d.b.Bytes()[at+len(empty):])
	d.b.Truncate(at)
	d.list(len(r.Resources), indent+"  ", func(i int, indent string) { d.value(resourceWithoutNulls(r.Resources[i]), indent) })
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

// encode does not escape characters for HTML: a command such as a && b stays
// readable.
func encode(b *bytes.Buffer, value any, indent string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, "  ")
	if err := enc.Encode(value); err != nil {
		panic(err) // only a mistake in the declaration of our own types can fail
	}
}

// withoutNulls returns a report whose missing lists are empty lists.
func withoutNulls(r model.Report) model.Report {
	r.Problems = orEmpty(r.Problems)
	r.Warnings = orEmpty(r.Warnings)
	resources := make([]model.ResourceReport, len(r.Resources))
	for i, o := range r.Resources {
		resources[i] = resourceWithoutNulls(o)
	}
	r.Resources = resources
	return r
}

func resourceWithoutNulls(o model.ResourceReport) model.ResourceReport {
	o.Tags = orEmpty(o.Tags)
	o.RefreshedBy = orEmpty(o.RefreshedBy)
	o.Guards = orEmpty(o.Guards)
	o.Warnings = orEmpty(o.Warnings)
	return o
}

// orEmpty returns an empty list in place of a missing one.
func orEmpty[L ~[]E, E any](l L) L {
	if l == nil {
		return L{}
	}
	return l
}
