package ztree

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/jute"
)

// told are events as text: type and path.
func told(events []jute.WatcherEvent) (out []string) {
	for _, e := range events {
		out = append(out, e.Type.String()+" "+e.Path)
	}
	return out
}

func createOpen(path string) *jute.CreateRequest {
	return &jute.CreateRequest{Path: path, ACL: jute.OpenACL()}
}

// TestRestore is the table of section 1.8: what a client that comes back is told at once, in the order of its lists,
// and what it waits for again.
func TestRestore(t *testing.T) {
	m := newMachine()
	me := []jute.ID{{Scheme: "ip", ID: "10.0.0.1"}}
	for _, path := range []string{"/old", "/changed", "/parent", "/still"} {
		m.prep(1, jute.OpCreate, createOpen(path), "OK "+path)
	}
	secret := createOpen("/secret")
	secret.ACL = []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "ip", ID: "10.9.9.9"}}}
	m.prep(1, jute.OpCreate, secret, "OK /secret")
	m.applyAll()
	seen := m.zxid
	m.prep(1, jute.OpSetData, &jute.SetDataRequest{Path: "/changed", Version: -1}, "OK ")
	m.prep(1, jute.OpCreate, createOpen("/parent/child"), "OK /parent/child")
	m.prep(1, jute.OpCreate, createOpen("/new"), "OK /new")
	m.applyAll()

	w := NewWatches()
	got := told(w.Restore(7, m.tree.View(), &jute.SetWatches{
		RelativeZxid: seen,
		Data:         []string{"/old", "/changed", "/gone", "/secret"},
		Exist:        []string{"/new", "/absent", "/secret"},
		Child:        []string{"/parent", "/still", "/gone"},
		Persistent:   []string{"/changed"}, PersistentRecursive: []string{"/"},
	}, me))
	want := []string{
		"NodeDataChanged /changed", "NodeDeleted /gone", "NodeCreated /new", "NodeChildrenChanged /parent",
		"NodeDeleted /gone",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, c := range []struct {
		path string
		kind jute.WatcherType
		want jute.Code
	}{
		{"/old", jute.WatcherData, jute.OK},
		{"/secret", jute.WatcherData, jute.OK}, // it hadn't changed
		{"/changed", jute.WatcherData, jute.NoWatcher},
		{"/changed", jute.WatcherPersistent, jute.OK},
		{"/absent", jute.WatcherData, jute.OK},
		{"/new", jute.WatcherAny, jute.NoWatcher},
		{"/still", jute.WatcherChildren, jute.OK},
		{"/parent", jute.WatcherChildren, jute.NoWatcher},
		{"/", jute.WatcherPersistentRecursive, jute.OK},
		{"/", jute.WatcherPersistent, jute.NoWatcher},
		{"/", 77, jute.MarshallingError},
	} {
		if code := w.Check(7, c.path, c.kind); code != c.want {
			t.Errorf("%s, type %d: %v", c.path, c.kind, code)
		}
	}
	if w.Count() != 7 || w.CountOf(7) != 6 || w.CountOf(8) != 0 { // a persistent watch is in both of Apache's tables
		t.Errorf("%d watches, %d and %d paths", w.Count(), w.CountOf(7), w.CountOf(8))
	}
}

// TestWatchLists are those of the four-letter words: watches of nodes by path, by watcher, and their number.
func TestWatchLists(t *testing.T) {
	w := NewWatches()
	w.Add(2, "/a", WatchData)
	w.Add(1, "/a", WatchPersistent)
	w.Add(1, "/b", WatchChild) // of children: in no list
	w.Add(3, "", WatchRecursive)
	w.Add(3, "/a", WatchChild|WatchData)
	if got, want := maps.Collect(w.ByPath()), map[string][]WatcherID{"/": {3}, "/a": {1, 2, 3}}; !cmp.Equal(got, want) {
		t.Errorf("by path %v", got)
	}
	want := map[WatcherID][]string{1: {"/a"}, 2: {"/a"}, 3: {"/", "/a"}}
	if got := maps.Collect(w.ByWatcher()); !cmp.Equal(got, want) {
		t.Errorf("by watcher %v", got)
	}
	if watchers, paths, watches := w.Summary(); watchers != 3 || paths != 2 || watches != 4 {
		t.Errorf("%d, %d, %d", watchers, paths, watches)
	}
	for range w.ByPath() {
		break
	}
	for range w.ByWatcher() {
		break
	}
	if w.Remove(1, "/a", jute.WatcherData) != jute.NoWatcher || w.Remove(1, "/a", jute.WatcherPersistent) != jute.OK ||
		w.Remove(1, "/a", jute.WatcherAny) != jute.NoWatcher || w.Remove(9, "/a", jute.WatcherAny) != jute.NoWatcher {
		t.Error("removed what wasn't there, or not what was")
	}
	w.Drop(3)
	w.Drop(99)
	if got, want := maps.Collect(w.ByPath()), map[string][]WatcherID{"/a": {2}}; !cmp.Equal(got, want) {
		t.Errorf("after 3 left: %v", got)
	}
	w.Drop(2)
	w.Drop(1)
	if w.Count() != 0 || w.recursive != 0 || len(w.paths) != 0 || len(w.byID) != 0 {
		t.Errorf("left behind: %+v", w)
	}
}

// TestDropSome: who has very many watches leaves in steps, and what is left of it meanwhile is right.
func TestDropSome(t *testing.T) {
	w := NewWatches()
	for i := range 25 {
		path := "/" + string(rune('a'+i))
		w.Add(1, path, WatchData)
		w.Add(2, path, WatchRecursive)
	}
	for steps, want := range []int{40, 30, 25} {
		if more := w.DropSome(1, 10); more != (steps < 2) || w.Count() != want || w.CountOf(1) != want-25 {
			t.Errorf("step %d: more %v, %d watches, %d of them 1's", steps, more, w.Count(), w.CountOf(1))
		}
	}
	if w.DropSome(1, 10) || w.CountOf(2) != 25 || w.recursive != 25 {
		t.Errorf("%d are left of 2's", w.CountOf(2))
	}
}

// TestWatchOfRoot: the root has one name in events, whichever a client used.
func TestWatchOfRoot(t *testing.T) {
	m := newMachine()
	w := NewWatches()
	w.Add(1, "", WatchChild)
	w.Add(2, "/", WatchPersistent)
	if w.Check(1, "", jute.WatcherChildren) != jute.OK || w.Check(1, "/", jute.WatcherChildren) != jute.OK {
		t.Error("the root's names are two")
	}
	m.prep(1, jute.OpCreate, createOpen("/x"), "OK /x")
	r := m.tree.Apply(m.pending[0])
	var got []WatcherID
	for _, n := range w.Trigger(1, &r.Changes[0]) {
		if n.Event.Path != "/" || n.Event.Type != jute.EventNodeChildrenChanged {
			t.Errorf("%+v", n.Event)
		}
		got = append(got, n.Watchers...)
	}
	if !slices.Equal(got, []WatcherID{1, 2}) || w.Check(1, "/", jute.WatcherAny) != jute.NoWatcher {
		t.Errorf("%v are told", got)
	}
}
