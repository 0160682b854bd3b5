package main

import (
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figures are measures of how a package is put together.
type figures struct {
	arrows float64 // how many other files of the package a file uses, on average
	circle float64 // share of files in the largest circle of files that use each other, in percent
	odd    float64 // comment lines in roundabout English, per 100
}

// limits hold for every package. Arrows and circles are measured from eight files on.
var limits = figures{arrows: 4, circle: 60, odd: 1}

const (
	maxLines  = 4500 // of a package
	maxFields = 25   // of a struct
)

// excused are the packages whose circle is their subject, with the reason.
var excused = map[string]string{
	"providers/proc":    "one process has one state: starting, reading, signalling and waiting need each other",
	"providers/journal": "the file, its lock and its history are one protocol: each step checks the others",
}

// unfinished are packages above a limit, with the figures that they have. A row may
// only get smaller. Remove it when the package is below every limit.
var unfinished = map[string]figures{}

// largeStructs are the structs above maxFields, with their fields.
var largeStructs = map[string]int{}

// sourceFiles are the parsed files of one package.
type sourceFiles struct {
	set      *token.FileSet
	built    []*ast.File // those built on Linux
	lines    int
	comments int
	odd      int
}

var oddComment = regexp.MustCompile(`\b(who(ever)? (has|is|only|does|wants|asks|reads|writes|gives|calls)|nobody|no one|somebody|anybody|is none|are none|what (is|was|has|had|became|stands|goes|comes|came|an?) )\b`)

func TestPackagesAreSmallAndHaveNoLargeCircles(t *testing.T) {
	for pkg, src := range parsePackages(t) {
		allowed := limits
		if row, ok := unfinished[pkg]; ok {
			allowed = figures{max(limits.arrows, row.arrows), max(limits.circle, row.circle), max(limits.odd, row.odd)}
		}
		got := figures{odd: 100 * float64(src.odd) / float64(max(1, src.comments))}
		if len(src.built) >= 8 && excused[pkg] == "" {
			got.arrows, got.circle = measureFiles(src)
		}
		const rounding = 0.051 // rows have one digit behind the point
		if got.arrows > allowed.arrows+rounding || got.circle > allowed.circle+rounding || got.odd > allowed.odd+rounding {
			t.Errorf("%s: %.1f arrows a file, %.1f %% of the files in one circle, %.1f odd comment lines in 100; want at most %v", pkg, got.arrows, got.circle, got.odd, allowed)
		}
		if _, ok := unfinished[pkg]; ok && got.arrows <= limits.arrows && got.circle <= limits.circle && got.odd <= limits.odd {
			t.Errorf("%s is below every limit: remove its row from unfinished", pkg)
		}
		if src.lines > maxLines {
			t.Errorf("%s has %d lines, want at most %d", pkg, src.lines, maxLines)
		}
		for _, file := range src.built {
			checkFields(t, pkg, file)
		}
	}
}

func checkFields(t *testing.T, pkg string, file *ast.File) {
	t.Helper()
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok && s.Fields.NumFields() > max(maxFields, largeStructs[pkg+"."+spec.Name.Name]) {
				t.Errorf("%s: %s has %d fields, want at most %d", pkg, spec.Name.Name, s.Fields.NumFields(), maxFields)
			}
		}
		return true
	})
}

// parsePackages parses every package without its tests.
func parsePackages(t *testing.T) map[string]*sourceFiles {
	t.Helper()
	linux := gobuild.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64"
	found := map[string]*sourceFiles{}
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != top && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		dir, err := filepath.Rel(top, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		if found[pkg] == nil {
			found[pkg] = &sourceFiles{set: token.NewFileSet()}
		}
		src := found[pkg]
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		src.countLines(string(text))
		if ok, err := linux.MatchFile(filepath.Dir(name), filepath.Base(name)); err != nil || !ok {
			return err
		}
		file, err := parser.ParseFile(src.set, name, text, 0)
		src.built = append(src.built, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *sourceFiles) countLines(text string) {
	for line := range strings.Lines(text) {
		s.lines++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") {
			s.comments++
		}
		if _, comment, ok := strings.Cut(line, "// "); ok && oddComment.MatchString(comment) {
			s.odd++
		}
	}
}

// emptyImporter imports every package as an empty one: only uses inside a package count.
type emptyImporter struct{}

func (emptyImporter) Import(name string) (*types.Package, error) {
	pkg := types.NewPackage(name, path.Base(name))
	pkg.MarkComplete()
	return pkg, nil
}

// measureFiles returns the arrows a file and the share of the largest circle.
func measureFiles(src *sourceFiles) (arrows, circle float64) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: emptyImporter{}, Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check("p", src.set, src.built, info) // errors come from the empty imports
	number := map[string]int{}
	for i, file := range src.built {
		number[src.set.Position(file.Pos()).Filename] = i
	}
	n := len(src.built)
	uses := make([][]bool, n)
	for i := range uses {
		uses[i] = make([]bool, n)
	}
	for id, object := range info.Uses {
		_, isMethodOrFunc := object.(*types.Func)
		if object.Pkg() != pkg || !object.Pos().IsValid() || !isMethodOrFunc && object.Parent() != pkg.Scope() {
			continue // of another package, or a field or local variable
		}
		from := number[src.set.Position(id.Pos()).Filename]
		to := number[src.set.Position(object.Pos()).Filename]
		if from != to && !uses[from][to] {
			uses[from][to] = true
			arrows++
		}
	}
	return arrows / float64(n), 100 * float64(largestCircle(uses)) / float64(n)
}

// largestCircle returns the size of the largest set of files that reach each other,
// 0 without any. It overwrites uses with what each file reaches.
func largestCircle(uses [][]bool) int {
	for via := range uses {
		for from := range uses {
			for to := range uses {
				uses[from][to] = uses[from][to] || uses[from][via] && uses[via][to]
			}
		}
	}
	largest := 0
	for i := range uses {
		size := 0
		for j := range uses {
			if uses[i][j] && uses[j][i] {
				size++
			}
		}
		largest = max(largest, size)
	}
	return largest
}

func TestCirclesAreFound(t *testing.T) {
	for _, row := range []struct {
		name string
		uses [][]bool
		want int
	}{
		{"a chain", [][]bool{{false, true, false}, {false, false, true}, {false, false, false}}, 0},
		{"a circle of two", [][]bool{{false, true, false}, {true, false, true}, {false, false, false}}, 2},
		{"a circle of three", [][]bool{{false, true, false}, {false, false, true}, {true, false, false}}, 3},
	} {
		if got := largestCircle(row.uses); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
