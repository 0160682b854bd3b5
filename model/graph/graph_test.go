package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		upstream [][]int
		want     []int
		ok       bool
	}{
		{"nothing", nil, []int{}, true},
		{"no edges keep the given order", [][]int{{}, {}, {}}, []int{0, 1, 2}, true},
		{"a node may wait for a later one", [][]int{{2}, {}, {}}, []int{1, 2, 0}, true},
		{"the lowest ready node goes first", [][]int{{3}, {}, {3}, {}}, []int{1, 3, 0, 2}, true},
		{"repeated edges count once each", [][]int{{1, 1}, {}}, []int{1, 0}, true},
		{"a loop holds back itself and what comes after", [][]int{{1}, {0}, {0}, {}}, []int{3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := Order(tt.upstream)
			if !slices.Equal(got, tt.want) || ok != tt.ok {
				t.Errorf("Order = %v, %v; want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestLoops(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		upstream [][]int
		want     [][]int
	}{
		{"none", [][]int{{1}, {2}, {}}, nil},
		{"itself", [][]int{{}, {1}}, [][]int{{1}}},
		{"a ring, from its lowest node", [][]int{{2}, {0}, {1}}, [][]int{{0, 2, 1}}},
		{"two independent loops", [][]int{{1}, {0}, {3}, {2}}, [][]int{{0, 1}, {2, 3}}},
		{"the shortest of one component", [][]int{{1}, {2}, {3}, {0, 2}}, [][]int{{2, 3}}},
		{"what hangs on a loop is not part of it", [][]int{{1}, {2}, {1}, {0}}, [][]int{{1, 2}}},
		{"an edge between components closes nothing", [][]int{{1}, {0, 2}, {3}, {2}}, [][]int{{0, 1}, {2, 3}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Loops(tt.upstream); !slices.EqualFunc(got, tt.want, slices.Equal) {
				t.Errorf("Loops = %v, want %v", got, tt.want)
			}
		})
	}
}

// FuzzGraph compares both functions with the plainest code that says what they promise.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{3, 0, 1, 1, 2, 2, 0})
	f.Add([]byte{6, 0, 1, 2, 1, 4, 4, 5, 0})
	f.Fuzz(func(t *testing.T, data []byte) { check(t, decode(data)) })
}

// decode makes a graph of at most 16 nodes: their number, then edges.
func decode(data []byte) [][]int {
	if len(data) == 0 {
		return nil
	}
	upstream := make([][]int, 1+int(data[0])%16)
	for i := 1; i+1 < len(data) && i < 120; i += 2 {
		n := int(data[i]) % len(upstream)
		upstream[n] = append(upstream[n], int(data[i+1])%len(upstream))
	}
	return upstream
}

func check(t *testing.T, upstream [][]int) {
	t.Helper()
	order, ok := Order(upstream)
	if want := plainOrder(upstream); !slices.Equal(order, want) {
		t.Fatalf("Order(%v) = %v, want %v", upstream, order, want)
	}
	if ok != (len(order) == len(upstream)) {
		t.Fatalf("Order(%v) is complete: %v", upstream, ok)
	}
	loops := Loops(upstream)
	if (len(loops) == 0) != ok {
		t.Fatalf("Loops(%v) = %v, but ordering it said %v", upstream, loops, ok)
	}
	reach := distances(upstream)
	covered := make([]bool, len(upstream))
	for _, loop := range loops {
		for i, n := range loop {
			if !slices.Contains(upstream[n], loop[(i+1)%len(loop)]) {
				t.Fatalf("Loops(%v): %v has no edge after %d", upstream, loop, n)
			}
		}
		for n := range upstream {
			if n == loop[0] || reach[n][loop[0]] > 0 && reach[loop[0]][n] > 0 {
				if covered[n] {
					t.Fatalf("Loops(%v) = %v: two loops of one component", upstream, loops)
				}
				covered[n] = true
				if d := reach[n][n]; d < len(loop) {
					t.Fatalf("Loops(%v): %v is not the shortest, there is one of %d", upstream, loop, d)
				}
			}
		}
	}
	for n := range upstream {
		if reach[n][n] > 0 && !covered[n] {
			t.Fatalf("Loops(%v) = %v: %d lies on a loop of none of them", upstream, loops, n)
		}
	}
}

// plainOrder takes the lowest node whose upstream is taken, again and again.
func plainOrder(upstream [][]int) []int {
	order := []int{}
	for {
		next := -1
		for n, up := range upstream {
			if !slices.Contains(order, n) && !slices.ContainsFunc(up, func(u int) bool { return !slices.Contains(order, u) }) {
				next = n
				break
			}
		}
		if next < 0 {
			return order
		}
		order = append(order, next)
	}
}

// distances returns the length of the shortest way between any two nodes that
// has at least one edge, 0 for none.
func distances(upstream [][]int) [][]int {
	d := make([][]int, len(upstream))
	for n, up := range upstream {
		d[n] = make([]int, len(upstream))
		for _, u := range up {
			d[n][u] = 1
		}
	}
	for k := range d {
		for i := range d {
			for j := range d {
				if via := d[i][k] + d[k][j]; d[i][k] > 0 && d[k][j] > 0 && (d[i][j] == 0 || via < d[i][j]) {
					d[i][j] = via
				}
			}
		}
	}
	return d
}

func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		data := make([]byte, 1+rng.IntN(60))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		check(t, decode(data))
	}
}

// A ring of very many resources must be named, not searched for ever.
func TestHugeRing(t *testing.T) {
	t.Parallel()
	upstream := make([][]int, 100_000)
	for n := range upstream {
		upstream[n] = []int{(n + 1) % len(upstream)}
	}
	if loops := Loops(upstream); len(loops) != 1 || len(loops[0]) != len(upstream) {
		t.Errorf("found %d loops", len(loops))
	}
	upstream[len(upstream)-1] = nil
	if order, ok := Order(upstream); !ok || order[0] != len(upstream)-1 {
		t.Errorf("Order of a chain is complete: %v", ok)
	}
}

func BenchmarkOrder(b *testing.B) {
	upstream := make([][]int, 10_000)
	for n := range upstream {
		for u := 1; u <= 3 && n-u >= 0; u++ {
			upstream[n] = append(upstream[n], n-u)
		}
	}
	for b.Loop() {
		Order(upstream)
	}
}
