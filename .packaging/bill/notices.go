package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// terms are the files of a module that a program built from it must carry.
var terms = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md))?$`)

// writeNotices writes the terms of Go and of each module, one after the other.
// A module without any is an error: it could not be passed on.
func writeNotices(name string, info *debug.BuildInfo) error {
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("settle contains, unchanged, what is named here, each under its own terms.\n")
	if err := appendTerms(&text, "Go, https://go.dev", strings.TrimSpace(string(root))); err != nil {
		return err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		answer, err := output("go", "mod", "download", "-json", m.Path+"@"+m.Version)
		if err != nil {
			return err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal(answer, &module); err != nil {
			return fmt.Errorf("read what go says of %s: %w", m.Path, err)
		}
		if err := appendTerms(&text, m.Path+" "+m.Version, module.Dir); err != nil {
			return err
		}
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

func appendTerms(text *bytes.Buffer, title, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	before := text.Len()
	for _, f := range files {
		if f.IsDir() || !terms.MatchString(f.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("-", 78), title, f.Name(), bytes.TrimSpace(content))
	}
	if text.Len() == before {
		return fmt.Errorf("find the terms of %s: no such file in %s", title, dir)
	}
	return nil
}

// output runs a command for what it prints, with what it complains of in the error.
func output(argv ...string) ([]byte, error) {
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("run %s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}
