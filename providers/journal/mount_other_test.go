//go:build unix && !linux

package journal

import "errors"

func mountTmpfs(string, string) error { return errors.ErrUnsupported }

func unmount(string) error { return nil }
