//go:build !unix

package journal

import (
	"errors"
	"os"
)

func lockFile(*os.File) error { return errors.ErrUnsupported }

const openNoFollow, openNonBlocking = 0, 0

func ownerOf(os.FileInfo) (uid int, ok bool) { return 0, false }

func checkWritable(string) error { return nil }

func describeOwner(string) string { return "" }

func userName(int) string { return "" }
