package model

// Plan is the fixed input of a walk: a manifest and what is remembered of
// earlier runs. It is not a promise: what a guard says may depend on what
// earlier resources do, so a preview walks it by the same rules as an apply.
type Plan struct {
	Manifest *Manifest
	Memory   Memory
	Run      string // id of this run
}
