package render

import (
	"bytes"
	"encoding/json"

	"github.com/settle-cm/settle/model"
)

// JSON returns exactly one document: the report itself for one manifest, and
// {"runs": [report…]} for several. Arrays are never null.
func JSON(reports []model.Report, _ Options) []byte {
	whole := make([]model.Report, len(reports))
	for i := range reports {
		whole[i] = complete(reports[i])
	}
	if len(whole) == 1 {
		return Document(whole[0])
	}
	return Document(struct {
		Runs []model.Report `json:"runs"`
	}{whole})
}

// Document returns any value as an indented JSON document. Nothing is escaped
// for HTML: a command such as a && b stays readable.
func Document(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		panic(err) // our own types: only a mistake in their declaration can fail
	}
	return b.Bytes()
}

// complete gives every list of a report at least an empty value.
func complete(r model.Report) model.Report {
	r.Problems = list(r.Problems)
	r.Warnings = list(r.Warnings)
	resources := make([]model.Outcome, len(r.Resources))
	for i, o := range r.Resources {
		resources[i] = completeOutcome(o)
	}
	r.Resources = resources
	return r
}

func completeOutcome(o model.Outcome) model.Outcome {
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
