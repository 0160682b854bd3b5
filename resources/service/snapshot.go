package service

import (
	"context"
	"slices"
	"sync"
)

// snapshot keeps the state of all declared units from one query, for as long as
// no resource of the run has acted.
type snapshot struct {
	mu       sync.Mutex
	names    []string
	units    map[string]Unit
	reported bool // the query was made, and units (or nothing, after an error) is the answer
}

// add declares a unit that the query has to ask about.
func (s *snapshot) add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.names[max(0, len(s.names)-1):], name) {
		s.names = append(s.names, name)
	}
}

// unit returns the state of one declared unit. The first call asks the manager
// about all declared units at once.
func (s *snapshot) unit(ctx context.Context, m Manager, name string) (Unit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reported {
		s.reported = true
		units, err := m.Show(ctx, showTimeout, s.names...)
		if err != nil {
			return Unit{}, false // the caller asks about its own unit, and reports the error
		}
		s.units = make(map[string]Unit, len(units))
		for _, u := range units {
			s.units[u.Name] = u
		}
	}
	u, ok := s.units[name]
	return u, ok
}
