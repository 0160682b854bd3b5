//go:build !unix

package machine

import (
	"errors"
	"os"
)

// lockFile fails: there is no agent for such a system.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
