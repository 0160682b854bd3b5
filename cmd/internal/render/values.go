package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// valueMost is how much of a value is shown to people: enough to tell which one
// it is.
const valueMost = 200

// valueLines are the values that were put into a resource, each with the
// expression that it stands for and the place where that is written.
func valueLines(o *model.ResourceReport) []string {
	var all []string
	for _, v := range o.Values {
		text := v.Value
		if len(text) > valueMost {
			text = strings.ToValidUTF8(text[:valueMost], "") + " …"
		}
		all = append(all, fmt.Sprintf("%s = %s  (%s)", Escape(v.Expression), Escape(text), Escape(v.Pos.String())))
	}
	return all
}
