package main

import (
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources"
)

func (c *validateCommand) run(a *app) []ending {
	show := a.newPresenter("validate", c.reportFlags, len(c.Manifests) > 1)
	var endings []ending
	for _, path := range orDefault(c.Manifests) {
		l := a.load("validate", path, c.Strict, resources.World{})
		if l.refused == nil {
			l.report.Summary = model.Summary{Total: len(l.manifest.Resources)}
		}
		show.begin(l)
		e := ending{refused: l.refused, report: &l.report}
		show.end(l, e)
		endings = append(endings, e)
	}
	return show.close(endings)
}
