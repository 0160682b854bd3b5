package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model/value"
)

// JSON turns what Render has written into a JSON document, which is a manifest
// as well: its keys are in the same order, its texts as they are.
func JSON(text []byte) []byte {
	var doc yaml.Node
	_ = yaml.Unmarshal(text, &doc) // it is our own
	var b, out bytes.Buffer
	for _, top := range doc.Content {
		writeJSON(&b, top)
	}
	_ = json.Indent(&out, b.Bytes(), "", "  ") // as above
	out.WriteByte('\n')
	return out.Bytes()
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			writeText(b, n.Content[i].Value)
			b.WriteByte(':')
			writeJSON(b, n.Content[i+1])
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, item)
		}
		b.WriteByte(']')
	default:
		if n.Style == 0 && (decimal.MatchString(n.Value) && json.Valid([]byte(n.Value)) || n.Value == "true" || n.Value == "false" || n.Value == "null") {
			b.WriteString(n.Value) // what a manifest knows beside texts; 1e3 is one
			return
		}
		writeText(b, n.Value)
	}
}

// writeText writes a text as JSON that is YAML as well: what YAML does not take
// raw is escaped.
func writeText(b *bytes.Buffer, text string) {
	for _, c := range value.JSON(text) {
		if parse.NeedsEscape(c) {
			fmt.Fprintf(b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
}
