package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model"
)

// stateShutdown is the last state of a server that the helper had shut down.
const stateShutdown = "shutdown"

// shutdown runs on_shutdown, unless the previous answer of the helper was shutdown too.
func (s *server) shutdown(ctx context.Context, stage model.Stage, a *answer, effect *model.Effect) error {
	if len(s.onShutdown) > 0 && stage.LastState != stateShutdown {
		if err := s.command(ctx, stage, "on_shutdown", s.onShutdown, nil, effect); err != nil {
			return err
		}
	}
	effect.Ended, effect.LastState, effect.Reason = model.Shutdown, stateShutdown, a.mask.Redact(a.verdict.Reason)
	return nil
}

// command runs an on_ command, and adds its output and exit code to the effect if it
// fails. env replaces variables of the command's environment.
func (s *server) command(ctx context.Context, stage model.Stage, property string, argv, env []string, effect *model.Effect) error {
	cmd := s.process(argv, commandTimeout)
	cmd.Env = slices.Clone(cmd.Env)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		cmd.Env = append(slices.DeleteFunc(cmd.Env, func(have string) bool { return strings.HasPrefix(have, key+"=") }), kv)
	}
	cmd.Output, cmd.Started = stage.Output, stage.Started
	exit, err := s.w.Run(ctx, cmd)
	effect.Began = effect.Began || exit.Began
	effect.Warnings = append(effect.Warnings, exit.Warnings...)
	switch {
	case err != nil:
	case exit.Signal != "":
		err = errors.New("killed by " + exit.Signal)
	case exit.Code != 0:
		effect.Exit = &exit.Code
		err = fmt.Errorf("exit %d", exit.Code)
	}
	if err != nil {
		effect.Output, effect.Truncated = effect.Output+exit.Output, effect.Truncated || exit.Truncated
		return fmt.Errorf("%s %s: %w", property, s.shown(argv), err)
	}
	return nil
}

// upgrade upgrades the server. After a successful upgrade the run is done: the next
// run asks the helper again. After a failed optional one the reply is judged again,
// without its upgrade.
func (s *server) upgrade(ctx context.Context, stage model.Stage, a *answer, effect *model.Effect) (done bool, err error) {
	to := a.reply.Upgrade
	err = s.command(ctx, stage, "on_upgrade", s.onUpgrade, []string{"SETTLE_UPGRADE_VERSION=" + to}, effect)
	if err == nil {
		var now string
		now, err = s.runningVersion(ctx)
		switch {
		case err != nil:
		case now == to:
			effect.Reason = "upgraded to " + to
			return true, nil
		default:
			err = fmt.Errorf("on_upgrade %s: the version is %q after it, not %q", s.shown(s.onUpgrade), now, to)
		}
	}
	if !s.upgradeOptional || ctx.Err() != nil {
		return false, err
	}
	effect.Warnings = append(effect.Warnings, err.Error()+"; the upgrade is optional")
	a.verdict, err = s.judge(a, true)
	return false, err
}
