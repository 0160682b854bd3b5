//go:build unix && !linux

package file_test

const hugeDir = "SETTLE_FILE_TEST_HUGE"

func convergeHuge(string) {}
