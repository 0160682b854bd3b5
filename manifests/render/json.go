package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model/value"
)

// JSON returns the JSON document for the result of YAML. It is a manifest too, with
// its keys in the same order.
func JSON(text []byte) []byte {
	var doc yaml.Node
	_ = yaml.Unmarshal(text, &doc) // our own output is valid
	var b, out bytes.Buffer
	for _, top := range doc.Content {
		writeJSON(&b, top)
	}
	_ = json.Indent(&out, b.Bytes(), "", "  ") // and so is this
	out.WriteByte('\n')
	return out.Bytes()
}

var decimal = regexp.MustCompile(`^-?[0-9]+$`)

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
			b.WriteString(n.Value) // the other forms of a scalar; 1e3 is a text to settle
			return
		}
		writeText(b, n.Value)
	}
}

// writeText writes a text as JSON that is valid YAML too: characters that YAML only
// allows escaped are escaped.
func writeText(b *bytes.Buffer, text string) {
	for _, c := range value.JSON(text) {
		if parse.NeedsEscape(c) {
			fmt.Fprintf(b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
}
