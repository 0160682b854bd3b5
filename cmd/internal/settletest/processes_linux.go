package settletest

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// EndProcesses kills the processes in whose environment entry (NAME=VALUE) stands,
// and waits at most ten seconds for their end. It returns their command lines.
// A test gives an entry of its own to all that it starts, so that nothing outlives it.
func EndProcesses(entry string) (ended []string) {
	killed := map[int]bool{}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		found := processesWith(entry)
		if len(found) == 0 {
			break
		}
		for pid, command := range found {
			if !killed[pid] {
				killed[pid] = true
				ended = append(ended, command)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
	return ended
}

// processesWith returns the command lines of the processes with an entry in their
// environment, by process id. A zombie has no environment and is left out.
func processesWith(entry string) map[int]string {
	found := map[int]string{}
	files, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, file := range files {
		pid, err := strconv.Atoi(file.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, err := os.ReadFile("/proc/" + file.Name() + "/environ")
		if err != nil || !bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+entry+"\x00")) {
			continue
		}
		command, _ := os.ReadFile("/proc/" + file.Name() + "/cmdline") // it may have ended by now
		found[pid] = string(bytes.ReplaceAll(bytes.TrimRight(command, "\x00"), []byte{0}, []byte(" ")))
	}
	return found
}
