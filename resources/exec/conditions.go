package exec

import (
	"context"

	"github.com/settle-cm/settle/model"
)

// Conditions returns what decodes creates, onlyif, unless, refreshonly and
// on_refresh of another type's resources, which then decide as they do for an
// exec in the manifest's directory.
func Conditions(opts Options) func(b *model.Body) func(context.Context, model.Ask) (model.Decision, error) {
	w := &world{Options: opts}
	return func(b *model.Body) func(context.Context, model.Ask) (model.Decision, error) {
		c := &command{w: w, base: b.Base, cwd: b.Dir, timeout: b.Duration("timeout"), sensitive: b.Bool("sensitive")}
		c.decodeConditions(b)
		for _, v := range b.Each("creates") {
			literal(b, "creates", v)
		}
		return c.Check
	}
}
