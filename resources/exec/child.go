package exec

import (
	"github.com/settle-cm/settle/model"
)

// New returns a command as an exec in the manifest's directory would start it
// that declares only argv. The caller may set further fields.
func (s *Commands) New(base model.Base, argv []string) model.Command {
	c := &command{w: &world{Options: Options{Commands: s}}, base: base, cwd: base.Dir}
	return c.process(account{}, argv, s.nextTag())
}

// SearchPath returns the directories in which New's commands look for a program.
func (s *Commands) SearchPath(base model.Base) []string {
	c := &command{w: &world{Options: Options{Commands: s}}, base: base}
	_, path := c.environment(account{}, base.Dir, "")
	return path
}
