package manifests

import (
	"strings"

	"github.com/settle-cm/settle/model"
)

// syntax says in words of ours what the YAML library says of a text.
func (l *loader) syntax(err error) model.Problem {
	return model.Problem{Pos: model.Pos{File: l.src.Path, Line: 1}, Message: "not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
}
