package contract

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed samples
var samples embed.FS

// Sample is an input as a real system sends it.
type Sample struct {
	Name string
	Data []byte
}

// Samples returns inputs with every combination of features, for those who test
// a helper.
func Samples() []Sample {
	var list []Sample
	err := fs.WalkDir(samples, "samples", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := samples.ReadFile(path)
		name := strings.TrimSuffix(strings.TrimPrefix(path, "samples/"), ".json")
		list = append(list, Sample{name, data})
		return err
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	return list
}
