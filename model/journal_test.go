package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The facts of the tables, as short as they are read.

func run(id string) Record  { return Record{Kind: RecordRun, Run: id} }
func done(id string) Record { return Record{Kind: RecordDone, Run: id} }

// begin is of "run id [subscriber...]"; a '!' behind the id says that creates was missing.
func begin(text string) Record {
	words := strings.Fields(text)
	id, missing := strings.CutSuffix(words[1], "!")
	return Record{Kind: RecordBegan, Run: words[0], ID: id, Subscribers: words[2:], Missing: missing}
}

// end is of "run id[=alias] how".
func end(text string) Record {
	words := strings.Fields(text)
	id, alias, _ := strings.Cut(words[1], "=")
	return Record{Kind: RecordEnded, Run: words[0], ID: id, Alias: alias, End: End(words[2])}
}

func settle(run, id, alias string) Record {
	return Record{Kind: RecordSettled, Run: run, ID: id, Alias: alias}
}
func forget(id, alias string) Record { return Record{Kind: RecordForget, ID: id, Alias: alias} }

// last is of "run id[=alias] how".
func last(text string) Record {
	words := append(strings.Fields(text), "")
	id, alias, _ := strings.Cut(words[1], "=")
	return Record{Kind: RecordLastState, Run: words[0], ID: id, Alias: alias, LastState: words[2]}
}

func process(run, id string, pid int) Record {
	return Record{Kind: RecordProcess, Run: run, ID: id, Process: &Process{PID: pid}}
}

// what writes a memory in one line: debts as "subscriber<publisher@run", then marks, then
// processes, then how things were left.
func what(m Memory) string {
	var parts []string
	for _, d := range m.Owed {
		parts = append(parts, fmt.Sprintf("%s<%s@%s", d.ID, d.By, d.Since))
	}
	for _, fact := range m.Records() {
		switch fact.Kind {
		case RecordUnfinished:
			parts = append(parts, fmt.Sprintf("%s!%s", fact.ID, fact.Run))
		case RecordProcess:
			parts = append(parts, fmt.Sprintf("%s:%d@%s", fact.ID, fact.Process.PID, fact.Run))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.LastStates)) {
		parts = append(parts, id+"="+m.LastStates[id])
	}
	return strings.Join(parts, " ")
}

var replays = []struct {
	name  string
	facts []Record
	want  string
}{
	{"nothing", nil, ""},
	{"a run that did nothing", []Record{done("1")}, ""},

	// who owes
	{"changed owes every subscriber of that moment", []Record{begin("1 p s t"), end("1 p changed")}, "s<p@1 t<p@1"},
	{"failed after its process started owes", []Record{begin("1 p s"), end("1 p failed")}, "s<p@1"},
	{"interrupted owes", []Record{begin("1 p s"), end("1 p interrupted")}, "s<p@1"},
	{"began and never ended owes", []Record{begin("1 p s")}, "s<p@1"},
	{"began and never ended owes, seen from the next run", []Record{begin("1 p s"), run("2")}, "s<p@1"},
	{"began and never ended owes, seen behind the end of its run", []Record{begin("1 p s"), done("1")}, "s<p@1"},
	{"stable owes nothing", []Record{begin("1 p s"), end("1 p stable")}, ""},
	{"ignored owes nothing", []Record{begin("1 p s"), end("1 p ignored")}, ""},
	{"without effect owes nothing", []Record{begin("1 p s"), end("1 p nothing")}, ""},
	{"nobody subscribes", []Record{begin("1 p"), end("1 p changed")}, ""},
	{"a late subscriber is owed only what came after it",
		[]Record{begin("1 p s"), end("1 p changed"), begin("2 p s t"), end("2 p changed")}, "s<p@1 t<p@2"},
	{"one that no longer subscribes is still owed", []Record{begin("1 p s"), end("1 p changed"), begin("2 p"), end("2 p changed")}, "s<p@1"},
	{"owed twice by one publisher is one debt, since the first run",
		[]Record{begin("1 p s"), end("1 p changed"), begin("2 p s"), end("2 p changed")}, "s<p@1"},
	{"owed by two publishers is two debts",
		[]Record{begin("1 p s"), end("1 p changed"), begin("1 q s"), end("1 q changed")}, "s<p@1 s<q@1"},
	{"debts are in the order in which they were made, not in that of names",
		[]Record{begin("1 q z a"), end("1 q changed"), begin("1 p m"), end("1 p changed")}, "z<q@1 a<q@1 m<p@1"},
	{"killed runs owe in the order in which their resources began", []Record{begin("1 q a"), begin("1 p b"), run("2")}, "a<q@1 b<p@1"},
	{"the same resource begun again and again killed", []Record{run("1"), begin("1 p s"), run("2"), begin("2 p s"), run("3")}, "s<p@1"},
	{"a begin of the same run without an end between counts too", []Record{begin("1 p s"), begin("1 p t"), end("1 p stable")}, "s<p@1"},
	{"a chain: the subscriber that changed owes its own", []Record{
		begin("1 p s"), end("1 p changed"), begin("1 s t"), end("1 s changed"),
	}, "t<s@1"},
	{"an end without a begin owes nothing: it cannot say whom", []Record{end("1 p changed")}, ""},

	// who pays
	{"a change pays", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s changed")}, ""},
	{"a success without change pays", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s stable")}, ""},
	{"a failure does not pay", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s failed")}, "s<p@1"},
	{"an ignored failure does not pay", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s ignored")}, "s<p@1"},
	{"an interrupt does not pay", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s interrupted")}, "s<p@1"},
	{"failing to start does not pay", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s nothing")}, "s<p@1"},
	{"to be killed does not pay", []Record{begin("1 p s"), end("1 p changed"), begin("1 s"), run("2")}, "s<p@1"},
	{"a no settles", []Record{begin("1 p s"), end("1 p changed"), settle("2", "s", "")}, ""},
	{"a success pays all its publishers at once",
		[]Record{begin("1 p s"), end("1 p changed"), begin("1 q s"), end("1 q changed"), begin("2 s"), end("2 s stable")}, ""},
	{"it pays its own only", []Record{begin("1 p s t"), end("1 p changed"), begin("1 t"), end("1 t changed")}, "s<p@1"},
	{"a publisher that is gone still pays out", []Record{begin("1 p s"), end("1 p changed"), run("2"), done("2")}, "s<p@1"},
	{"owed again after it was paid, since the new run",
		[]Record{begin("1 p s"), end("1 p changed"), begin("1 s"), end("1 s changed"), begin("2 p s"), end("2 p changed")}, "s<p@2"},
	{"what the loss of the state owes is paid like any other",
		[]Record{{Kind: RecordOwed, ID: "s", Run: "1"}, {Kind: RecordOwed, ID: "t", Run: "1"}, begin("1 s"), end("1 s changed")}, "t<@1"},

	// renamed
	{"a success under the new name pays the old one's debts", []Record{begin("1 p old"), end("1 p changed"), begin("2 new"), end("2 new=old stable")}, ""},
	{"and those of the new name", []Record{
		begin("1 p old"), end("1 p changed"), begin("2 p new"), end("2 p changed"), begin("2 new"), end("2 new=old changed"),
	}, ""},
	{"a failure under the new name pays neither", []Record{
		begin("1 p old"), end("1 p changed"), begin("2 new"), end("2 new=old failed"),
	}, "old<p@1"},
	{"a no under the new name settles the old one's", []Record{begin("1 p old"), end("1 p changed"), settle("2", "new", "old")}, ""},
	{"forgetting the new name forgets the old one", []Record{begin("1 p! old"), begin("1 old!"), forget("old", ""), forget("p", "")}, ""},

	// row 3's mark
	{"failed while creates was missing leaves a mark", []Record{begin("1 x!"), end("1 x failed")}, "x!1"},
	{"so does an ignored failure", []Record{begin("1 x!"), end("1 x ignored")}, "x!1"},
	{"and an interrupt", []Record{begin("1 x!"), end("1 x interrupted")}, "x!1"},
	{"and a kill", []Record{begin("1 x!"), run("2")}, "x!1"},
	{"failing to start leaves none", []Record{begin("1 x!"), end("1 x nothing")}, ""},
	{"nor does a failure while all was there", []Record{begin("1 x"), end("1 x failed")}, ""},
	{"a failure while all is there does not lift it", []Record{begin("1 x!"), end("1 x failed"), begin("2 x"), end("2 x failed")}, "x!1"},
	{"failing to start does not lift it", []Record{begin("1 x!"), end("1 x failed"), begin("2 x!"), end("2 x nothing")}, "x!1"},
	{"the last attempt is named", []Record{begin("1 x!"), end("1 x failed"), begin("2 x!"), end("2 x failed")}, "x!2"},
	{"a success lifts it", []Record{begin("1 x!"), end("1 x failed"), begin("2 x"), end("2 x stable")}, ""},
	{"a no does not lift it", []Record{begin("1 x!"), end("1 x failed"), settle("2", "x", "")}, "x!1"},
	{"a success under a new name lifts the old one's", []Record{begin("1 old!"), end("1 old failed"), begin("2 new"), end("2 new=old changed")}, ""},

	// forgetting
	{"forget drops debts and mark of one", []Record{
		begin("1 p! s t"), end("1 p failed"), begin("1 s!"), end("1 s failed"), forget("s", ""),
	}, "t<p@1 p!1"},
	{"forget all drops everything", []Record{begin("1 p! s t"), end("1 p failed"), forget("", "")}, ""},
	{"what a killed run left open is forgotten as well", []Record{begin("1 p! s"), forget("s", ""), forget("p", ""), run("2")}, ""},
	{"forget all, after a kill", []Record{begin("1 p! s"), forget("", ""), run("2")}, ""},
	{"what comes later is remembered again", []Record{
		begin("1 p s"), end("1 p changed"), forget("", ""), begin("2 p s"), end("2 p changed"),
	}, "s<p@2"},
	{"forgetting leaves a process that may still run", []Record{begin("1 x!"), process("1", "x", 7), forget("", "")}, "x:7@1"},

	// processes
	{"an attempt that never ended may still run", []Record{begin("1 x"), process("1", "x", 7), run("2")}, "x:7@1"},
	{"the last of its processes", []Record{begin("1 x"), process("1", "x", 7), process("1", "x", 8), run("2")}, "x:8@1"},
	{"one that ended does not run", []Record{begin("1 x"), process("1", "x", 7), end("1 x failed")}, ""},
	{"one that ended without effect does not run", []Record{begin("1 x"), process("1", "x", 7), end("1 x nothing")}, ""},
	{"a later attempt that could not start tells nothing of it", []Record{begin("1 x"), process("1", "x", 7), run("2"), begin("2 x"), end("2 x nothing")}, "x:7@1"},
	{"a later attempt that ran was made because it was dead", []Record{begin("1 x"), process("1", "x", 7), run("2"), begin("2 x"), end("2 x failed")}, ""},
	{"a later attempt that was killed takes its place", []Record{
		begin("1 x"), process("1", "x", 7), run("2"), begin("2 x"), process("2", "x", 9), run("3"),
	}, "x:9@2"},
	{"under a new name, too", []Record{begin("1 old"), process("1", "old", 7), run("2"), begin("2 new"), end("2 new=old changed")}, ""},
	// what a helper said
	{"shut down is remembered, and owes nothing", []Record{begin("1 p s"), end("1 p shutdown")}, "p=shutdown"},
	{"it neither pays nor lifts a mark", []Record{begin("1 q! p"), end("1 q changed"), begin("1 p!"), end("1 p failed"), begin("2 p"), end("2 p shutdown")}, "p<q@1 p!1 p=shutdown"},
	{"another shutdown is the same", []Record{begin("1 p s"), end("1 p shutdown"), begin("2 p s"), end("2 p shutdown")}, "p=shutdown"},
	{"no answer does not change it", []Record{begin("1 p s"), end("1 p shutdown"), begin("2 p s"), end("2 p nothing")}, "p=shutdown"},
	{"nor does a kill", []Record{begin("1 p"), end("1 p shutdown"), begin("2 p"), run("3")}, "p=shutdown"},
	{"another answer does: deferred", []Record{begin("1 p s"), end("1 p shutdown"), begin("2 p s"), end("2 p deferred")}, ""},
	{"another answer does: applied", []Record{begin("1 p"), end("1 p shutdown"), begin("2 p"), end("2 p stable")}, ""},
	{"another answer does: applied in part", []Record{begin("1 p"), end("1 p shutdown"), begin("2 p"), end("2 p failed")}, ""},
	{"under a new name, too", []Record{begin("1 old"), end("1 old shutdown"), begin("2 new"), end("2 new=old changed")}, ""},
	{"it is forgotten with the rest", []Record{begin("1 p"), end("1 p shutdown"), forget("p", "")}, ""},
	{"and with all", []Record{begin("1 p"), end("1 p shutdown"), forget("", "")}, ""},
	{"deferred owes nothing", []Record{begin("1 p s"), end("1 p deferred")}, ""},

	// how things were left
	{"how things were left is remembered", []Record{last("1 f a"), last("1 g b")}, "f=a g=b"},
	{"the last word holds", []Record{last("1 f a"), last("2 f b")}, "f=b"},
	{"not while it acts", []Record{last("1 f a"), last("2 f"), run("3")}, ""},
	{"under a new name, too", []Record{last("1 old a"), last("2 new=old b")}, "new=b"},
	{"nor while it acts under a new name", []Record{last("1 old a"), last("2 new=old")}, ""},
	{"it neither owes nor pays, and says nothing of an attempt", []Record{begin("1 p s"), last("1 p a"), last("1 s a")}, "s<p@1 p=a s=a"},
	{"it outlives runs", []Record{run("1"), last("1 f a"), done("1"), run("2"), done("2")}, "f=a"},
	{"it is forgotten with the rest", []Record{last("1 f a"), last("1 g b"), forget("f", "")}, "g=b"},
	{"by a former name", []Record{last("1 f a"), last("1 g b"), forget("new", "f")}, "g=b"},
	{"and with all", []Record{last("1 f a"), forget("", "")}, ""},
	{"a line that names no process is none", []Record{{Kind: RecordProcess, Run: "1", ID: "x"}}, ""},
}

func TestReplay(t *testing.T) {
	t.Parallel()
	for _, row := range replays {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := what(Replay(row.facts)); got != row.want {
				t.Errorf("adds up to %q, want %q", got, row.want)
			}
		})
	}
}

func TestReplayDuringARun(t *testing.T) {
	t.Parallel()
	facts := []Record{
		run("1"), begin("1 lost! s"), process("1", "lost", 6),
		run("2"), begin("2 done s"), end("2 done changed"), begin("2 p! t"), process("2", "p", 7), begin("2 q"),
	}
	rows := []struct {
		name, going, want string
		running           []string
	}{
		{"what the run has begun is not lost", "2", "s<lost@1 s<done@2 lost!1 lost:6@1", []string{"p", "q"}},
		{"it is when no run goes on", "", "s<lost@1 s<done@2 t<p@2 lost!1 p!2 lost:6@1 p:7@2", nil},
		{"or when another does, that has not written yet", "3", "s<lost@1 s<done@2 t<p@2 lost!1 p!2 lost:6@1 p:7@2", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := ReplayDuring(facts, row.going)
			if got := what(m); got != row.want {
				t.Errorf("adds up to %q, want %q", got, row.want)
			}
			if !slices.Equal(m.Running, row.running) {
				t.Errorf("running: %q, want %q", m.Running, row.running)
			}
		})
	}
}

func named(name, alias string) *Resource {
	return &Resource{Ref: Ref{"exec", name}, Alias: alias}
}

func TestMemoryKnowsAResourceByNameAndByAlias(t *testing.T) {
	t.Parallel()
	m := Replay([]Record{
		begin("1 p exec#old exec#new exec#other"), end("1 p changed"),
		begin("2 q exec#old"), end("2 q changed"),
		begin("2 exec#old!"), process("2", "exec#old", 7),
	})
	rows := []struct {
		name string
		r    *Resource
		owed string
		mark string
		pid  int
	}{
		{"by its name", named("old", ""), "p@1 q@2", "2", 7},
		{"by an alias that is its former name", named("x", "old"), "p@1 q@2", "2", 7},
		{"by both, in the order in which it was made", named("new", "old"), "p@1 p@1 q@2", "2", 7},
		{"by one that is both", named("old", "old"), "p@1 q@2", "2", 7},
		{"by neither", named("x", "y"), "", "", 0},
		{"without mark or process", named("other", ""), "p@1", "", 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var owed []string
			for _, d := range m.OwedTo(row.r) {
				owed = append(owed, d.By+"@"+d.Since)
			}
			if got := strings.Join(owed, " "); got != row.owed {
				t.Errorf("owed %q, want %q", got, row.owed)
			}
			if got := m.UnfinishedIn(row.r); got != row.mark {
				t.Errorf("mark %q, want %q", got, row.mark)
			}
			left, ok := m.StrayOf(row.r)
			if left.PID != row.pid || ok != (row.pid != 0) {
				t.Errorf("left %v %v, want pid %d", left, ok, row.pid)
			}
		})
	}
}

func TestMemoryMadeByHandAnswersToo(t *testing.T) {
	t.Parallel()
	m := Memory{Owed: []OwedRefresh{{"exec#s", "exec#p", "1"}}}
	if got := m.OwedTo(named("s", "")); len(got) != 1 {
		t.Errorf("owed %v, want one", got)
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	m := Replay([]Record{begin("1 p exec#here exec#gone exec#renamed"), end("1 p changed")})
	manifest := &Manifest{Resources: []Resource{*named("here", ""), *named("new", "renamed")}}
	want := []OwedRefresh{{"exec#gone", "p", "1"}}
	if d := cmp.Diff(want, m.OrphanedRefreshes(manifest)); d != "" {
		t.Errorf("orphans (-want +got):\n%s", d)
	}
	if got := m.OrphanedRefreshes(&Manifest{}); len(got) != 3 {
		t.Errorf("of an empty manifest: %v, want all three", got)
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	m := Replay([]Record{last("1 exec#here a"), last("1 exec#gone b"), last("1 exec#renamed c")})
	manifest := &Manifest{Resources: []Resource{*named("here", ""), *named("new", "renamed")}}
	facts := m.DropLastStates(manifest)
	if d := cmp.Diff([]Record{{Kind: RecordLastState, ID: "exec#gone"}}, facts); d != "" {
		t.Errorf("gone (-want +got):\n%s", d)
	}
	after := Replay(append(m.Records(), facts...))
	if again := after.DropLastStates(manifest); again != nil {
		t.Errorf("gone again: %v", again)
	}
	if got := what(after); got != "exec#here=a exec#renamed=c" {
		t.Errorf("remembers %q after that", got)
	}
	if got := after.LastStateOf(named("new", "renamed")); got != "c" {
		t.Errorf("of a renamed one %q", got)
	}
}

func TestOweAllIsOfSubscribersOnly(t *testing.T) {
	t.Parallel()
	p, s, r := named("p", ""), named("s", ""), named("r", "")
	s.Upstream = []Edge{{On: 0, Refresh: true}}
	r.Upstream = []Edge{{On: 0}}
	m := Replay(OweAll(&Manifest{Resources: []Resource{*p, *s, *r}}, "1"))
	if got := what(m); got != "exec#s<@1" {
		t.Errorf("owed %q", got)
	}
}
