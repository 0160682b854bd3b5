package entry

import "github.com/settle-cm/settle/model"

// LinkProperties are the properties that refer to other resources, in the order
// in which a resource lists its dependencies.
var LinkProperties = [...]string{"require", "subscribe", "before", "notify"}

// Entries are the decoded resources of a manifest, before the references between
// them are resolved. Lists that most resources have no part in are kept beside
// them: a manifest may have a hundred thousand resources.
type Entries struct {
	Resources   []model.Resource
	IDs         []string                    // of the resources, by index
	Unrolled    []bool                      // whether for_each made the resource, by index
	AliasPos    map[int]model.Pos           // of the aliases, by index of their resource
	Links       [len(LinkProperties)][]Link // references, by property
	RefreshOnly []Link                      // resources that wait for a refresh
	Guarded     map[int]bool                // resources whose guards a refresh ignores, without on_refresh
	Claims      []PathClaim
	Occupied    []OccupiedPath
	Reads       []ReadPath
	Unread      map[model.Ref]bool // resources that could not be read: references to them are not reported
	Incomplete  map[string]bool    // types with resources of unknown names, because a for_each is wrong
	Secrets     Secrets            // values that environments give to secrets
	Bodies      []model.Body       // what the resources say, by index; kept for rendering only
}

// Link is a reference from one resource to another.
type Link struct {
	From int // index of the resource that refers
	Text string
	model.Pos
	ByDefault bool // the reference comes from defaults
}

// PathClaim is a path that only one resource may write.
type PathClaim struct {
	Resource int
	model.PathClaim
}

// ReadPath is a path that a resource reads.
type ReadPath struct {
	Resource int
	Path     string
}

// OccupiedPath is a path whose entry a resource manages.
type OccupiedPath struct {
	Resource int
	model.OccupiedPath
}

// Secrets is a set of values to redact. It keeps the order in which they came.
type Secrets struct {
	values []string
	known  map[string]bool
}

// Add adds a value.
func (s *Secrets) Add(value string) {
	if !s.known[value] {
		s.known = Put(s.known, value, true)
		s.values = append(s.values, value)
	}
}

// Values returns the values in order.
func (s *Secrets) Values() []string { return s.values }
