package manifests

import "github.com/settle-cm/settle/model"

// Draw reads a manifest for who only draws it: one whose resources wait for
// each other is no valid one, but can be drawn. It returns that manifest, and
// its loops, each as the indexes of its resources, every one of which waits for
// the next; nil when the manifest has any other problem.
func Draw(src Source, types []model.Type) (*model.Manifest, [][]int) {
	l := read(src, types)
	if l.sink.Count() > len(l.circles) {
		return nil, nil
	}
	return l.m, l.circles
}
