package model

// Plan is the input of a walk: a manifest and the memory of earlier runs. It does
// not fix the outcome, because a guard may depend on what earlier resources do.
// A preview therefore walks it by the same rules as an apply.
type Plan struct {
	Manifest *Manifest
	Memory   Memory
	Run      string // id of this run
}
