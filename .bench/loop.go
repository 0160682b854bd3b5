//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"gopkg.in/yaml.v3"
)

// loopWord makes this program the bare Go loop: what anyone would write in an
// afternoon, without order, state, limits or a report.
const loopWord = "loop"

func loop(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%d words are too few", len(args))
	}
	switch args[0] {
	case "converged":
		return loopConverged(args[1])
	case "lines":
		return loopLines(args[1:])
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for range n {
		cmd := exec.Command(args[2], args[3:]...) //nolint:noctx // nothing ends it
		switch args[0] {
		case "spawn":
			_, err = cmd.CombinedOutput()
		case "exchange":
			cmd.Stdin = bytes.NewReader([]byte(`{"identity":"server"}`))
			_, err = cmd.Output()
		default:
			err = fmt.Errorf("%q is no loop", args[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loopConverged decodes a manifest and looks at every path in it.
func loopConverged(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var m struct {
		Resources []map[string][]map[string]struct {
			Command string
			Creates string
		}
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return err
	}
	for _, entry := range m.Resources {
		for _, list := range entry {
			for _, resource := range list {
				for _, r := range resource {
					if _, err := os.Lstat(r.Creates); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// loopLines runs a command and copies its output with a word before each line.
func loopLines(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // nothing ends it
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(os.Stderr, 64<<10)
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		_, _ = w.WriteString("exec#noisy | ") // Flush returns the error
		_, _ = w.Write(lines.Bytes())
		_ = w.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return cmd.Wait()
}
