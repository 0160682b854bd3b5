// Command bill lists the modules of a program: a bill of materials (CycloneDX
// 1.6, JSON) on standard output and, with -notices, the terms of each module
// that is linked into it. Both follow from what the linker wrote into the program
// and from SOURCE_DATE_EPOCH, so the same program has the same bill.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	version := flag.String("version", "", "the version of the program")
	notices := flag.String("notices", "", "write the terms of each module to this file")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *version, *notices); err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, program, version, notices string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read what %s is made of: %w", program, err)
	}
	if notices != "" {
		if err := writeNotices(notices, info); err != nil {
			return err
		}
	}
	bom, err := bill(info, version)
	if err != nil {
		return err
	}
	sum, err := digest(program)
	if err != nil {
		return err
	}
	bom.Metadata.Component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
	encoder := cdx.NewBOMEncoder(stdout, cdx.BOMFileFormatJSON).SetPretty(true)
	return encoder.EncodeVersion(bom, cdx.SpecVersion1_6)
}

// bill lists the modules of a program and, as one of them, the standard library,
// for that is what most advisories are about.
func bill(info *debug.BuildInfo, version string) (*cdx.BOM, error) {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
	}
	program := cdx.Component{
		BOMRef: "settle", Type: cdx.ComponentTypeApplication,
		Name: "settle", Version: version, PackageURL: packageURL(info.Main.Path, "v"+version),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	var properties []cdx.Property
	for _, s := range info.Settings {
		properties = append(properties, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	program.Properties = &properties

	components := []cdx.Component{library("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, library(m.Path, m.Version))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}

	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: time.Unix(epoch, 0).UTC().Format(time.RFC3339), Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bom, nil
}

func library(path, version string) cdx.Component {
	url := packageURL(path, version)
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}

// packageURL names a module as scanners look it up. Its path has no character
// that would have to be escaped, its version at most a plus.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

func digest(name string) (string, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
