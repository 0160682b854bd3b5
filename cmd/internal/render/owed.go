package render

// OwedRefresh is one refresh that is owed, as `settle owed` shows it.
type OwedRefresh struct {
	ID       string `json:"id"`
	By       string `json:"by"` // "" when the state was missing
	SinceRun string `json:"since_run"`
	Orphan   bool   `json:"orphan"`
	Now      string `json:"-"` // id of the resource that has this name as its alias
}

// Unfinished is a resource whose creates a failed run left incomplete, as
// `settle owed` shows it.
type Unfinished struct{ ID, Run string }

// Owed returns the owed refreshes and unfinished resources of a manifest, for people.
func Owed(owed []OwedRefresh, unfinished []Unfinished) []byte {
	if len(owed)+len(unfinished) == 0 {
		return []byte("nothing is owed\n")
	}
	var rows [][]string
	for _, d := range owed {
		note := "since run " + d.SinceRun + " by " + d.By
		switch {
		case d.By == "":
			note = "since run " + d.SinceRun + ", which found no state"
		case d.Now != "":
			note += ", is now " + d.Now
		case d.Orphan:
			note += "; it is gone from the manifest: settle forget " + d.ID
		}
		rows = append(rows, []string{d.ID, "refresh owed", note})
	}
	for _, u := range unfinished {
		rows = append(rows, []string{u.ID, "unfinished", "by run " + u.Run + ": it runs again, whatever it creates is there"})
	}
	return alignColumns(rows)
}
