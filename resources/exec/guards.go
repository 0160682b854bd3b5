package exec

import (
	"context"

	"github.com/settle-cm/settle/model"
)

// Guards returns the decoder of creates, onlyif, unless, refreshonly and
// on_refresh for the resources of another type. The decoded function decides as
// an exec in the manifest's directory does.
func Guards(opts Options) func(b *model.Body) func(context.Context, model.Ask) (model.Decision, error) {
	w := &world{Options: opts}
	return func(b *model.Body) func(context.Context, model.Ask) (model.Decision, error) {
		c := &command{w: w, base: b.Base, cwd: b.Dir, timeout: b.Duration("timeout"), sensitive: b.Bool("sensitive")}
		c.decodeGuards(b)
		for _, v := range b.Each("creates") {
			warnOfExpansion(b, "creates", v)
		}
		return c.Check
	}
}
