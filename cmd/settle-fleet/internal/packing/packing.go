// Package packing checks a directory before it becomes a bundle: its manifest
// with the values of every machine, and paths that would lose their meaning.
package packing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bundle"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
)

// Check validates the manifest of a directory with the values of each host in
// hosts/, and refuses paths that are relative to the manifest unless
// allowRelative is set: each version has a directory of its own, so such a path
// would begin anew with every release.
func Check(ctx context.Context, settle *runner.Settle, dir string, allowRelative bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	defer root.Close()
	name, err := bundle.FindManifest(root)
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	hosts, err := filepath.Glob(filepath.Join(dir, "hosts", "*.yaml"))
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	shared := sharedValues(dir)
	variants := make([]runner.Manifest, 0, len(hosts)+1)
	for _, host := range hosts {
		variants = append(variants, runner.Manifest{Path: filepath.Join(dir, name), Values: append(shared[:len(shared):len(shared)], host)})
	}
	if len(hosts) == 0 {
		variants = append(variants, runner.Manifest{Path: filepath.Join(dir, name), Values: shared})
	}
	for _, m := range variants {
		if err := checkVariant(ctx, settle, m, allowRelative); err != nil {
			return err
		}
	}
	return nil
}

// sharedValues returns the files of values that are not one host's. Which
// groups a host belongs to is only known on the host, so all are taken.
func sharedValues(dir string) []string {
	var files []string
	if common := filepath.Join(dir, "common.yaml"); fileExists(common) {
		files = append(files, common)
	}
	groups, _ := filepath.Glob(filepath.Join(dir, "groups", "*.yaml")) // the pattern is fixed
	return append(files, groups...)
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func checkVariant(ctx context.Context, settle *runner.Settle, m runner.Manifest, allowRelative bool) error {
	err := settle.Validate(ctx, m)
	if err == nil && !allowRelative {
		var rendered []byte
		if rendered, err = settle.Render(ctx, m); err == nil {
			err = CheckRelative(rendered)
		}
	}
	if err != nil && len(m.Values) > 0 {
		return fmt.Errorf("with %s:\n%w", strings.Join(m.Values, ", "), err)
	}
	return err
}

// CheckRelative looks for paths below the manifest's directory in a rendered
// manifest. The error names every one of them.
func CheckRelative(rendered []byte) error {
	var manifest struct {
		Resources []map[string][]map[string]json.RawMessage
	}
	if err := json.Unmarshal(rendered, &manifest); err != nil {
		return fmt.Errorf("read rendered manifest: %w", err)
	}
	var problems []error
	for _, entry := range manifest.Resources {
		for kind, resources := range entry {
			for _, resource := range resources {
				for name, text := range resource {
					if err := checkPaths(kind, text); err != nil {
						problems = append(problems, fmt.Errorf("%s#%s: %w", kind, name, err))
					}
				}
			}
		}
	}
	if len(problems) > 0 {
		problems = append(problems, errors.New("each release has a directory of its own: write absolute paths, or give --allow-relative"))
	}
	return errors.Join(problems...)
}

func checkPaths(kind string, text json.RawMessage) error {
	var properties map[string]any
	if json.Unmarshal(text, &properties) != nil {
		return nil // no properties
	}
	property := func(key string) string { value, _ := properties[key].(string); return value }
	switch kind {
	case "exec":
		cwd := property("cwd")
		switch {
		case cwd == "" && property("user") == "":
			return errors.New("it has no cwd")
		case cwd != "" && !filepath.IsAbs(cwd):
			return fmt.Errorf("cwd %s is relative", cwd)
		}
	case "file", "archive":
		if path := property("path"); path != "" && !filepath.IsAbs(path) {
			return fmt.Errorf("path %s is relative", path)
		}
	}
	return nil
}
