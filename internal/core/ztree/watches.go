package ztree

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// Kind is how a watch was set.
type Kind uint8

// The kinds of watches. A connection may have all of them at one path.
const (
	WatchData       Kind = 1 << iota // getData, exists: goes with the first event
	WatchChild                       // getChildren, getChildren2: goes with the first event
	WatchPersistent                  // addWatch mode 0
	WatchRecursive                   // addWatch mode 1: for all below the path too
)

const (
	anyKind = WatchData | WatchChild | WatchPersistent | WatchRecursive
	ofData  = WatchData | WatchPersistent | WatchRecursive // who hears of the node itself
	ofChild = WatchChild | WatchPersistent                 // who hears of its children
)

// Watches is who waits for what on this server. The driver's lock guards it (see the package's comment).
//
// Apache has two tables, for nodes and for their children. Here it is one, and a connection's kinds at a
// path say in which of the two it would be.
type Watches struct {
	paths     map[string][]watcher // by id
	byID      map[WatcherID]map[string]struct{}
	recursive int // watches of that kind: without any, nobody looks at parents
	count     int

	ids     []WatcherID // what notices point into
	notices []Notice
}

type watcher struct {
	id    WatcherID
	kinds Kind
}

// NewWatches is an empty table.
func NewWatches() *Watches {
	return &Watches{paths: map[string][]watcher{}, byID: map[WatcherID]map[string]struct{}{}}
}

func find(list []watcher, id WatcherID) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(w watcher, id WatcherID) int { return cmp.Compare(w.id, id) })
}

// tables is in how many of Apache's tables the kinds are.
func tables(k Kind) (n int) {
	if k&ofData != 0 {
		n++
	}
	if k&ofChild != 0 {
		n++
	}
	return n
}

// named is the path that events have: the root's other name is "".
func named(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// Add sets a watch. The path is copied.
func (w *Watches) Add(id WatcherID, path string, kind Kind) {
	path = named(path)
	list := w.paths[path]
	i, there := find(list, id)
	if !there {
		path = strings.Clone(path)
		w.paths[path] = slices.Insert(list, i, watcher{id: id})
		list = w.paths[path]
		mine := w.byID[id]
		if mine == nil {
			mine = map[string]struct{}{}
			w.byID[id] = mine
		}
		mine[path] = struct{}{}
	}
	w.account(list[i].kinds, list[i].kinds|kind)
	list[i].kinds |= kind
}

// account keeps the totals when a connection's kinds at a path change.
func (w *Watches) account(from, to Kind) {
	w.count += tables(to) - tables(from)
	switch {
	case to&WatchRecursive > from&WatchRecursive:
		w.recursive++
	case to&WatchRecursive < from&WatchRecursive:
		w.recursive--
	}
}

// kindsOf translates what a client may ask about; 0 is unknown.
func kindsOf(t jute.WatcherType) Kind {
	switch t {
	case jute.WatcherChildren:
		return WatchChild
	case jute.WatcherData:
		return WatchData
	case jute.WatcherAny:
		return anyKind
	case jute.WatcherPersistent:
		return WatchPersistent
	case jute.WatcherPersistentRecursive:
		return WatchRecursive
	}
	return 0
}

// Check is checkWatches: OK, NoWatcher, or MarshallingError for an unknown type.
func (w *Watches) Check(id WatcherID, path string, t jute.WatcherType) jute.Code {
	kinds := kindsOf(t)
	if kinds == 0 {
		return jute.MarshallingError
	}
	list := w.paths[named(path)]
	if i, there := find(list, id); there && list[i].kinds&kinds != 0 {
		return jute.OK
	}
	return jute.NoWatcher
}

// Remove is removeWatches, with Check's codes.
func (w *Watches) Remove(id WatcherID, path string, t jute.WatcherType) jute.Code {
	if code := w.Check(id, path, t); code != jute.OK {
		return code
	}
	w.take(named(path), kindsOf(t), func(x WatcherID) bool { return x == id })
	return jute.OK
}

// take removes kinds at a path from the watchers chosen.
func (w *Watches) take(path string, kinds Kind, from func(WatcherID) bool) {
	list := w.paths[path]
	kept := list[:0]
	for _, x := range list {
		if x.kinds&kinds != 0 && from(x.id) {
			w.account(x.kinds, x.kinds&^kinds)
			if x.kinds &^= kinds; x.kinds == 0 {
				w.forget(x.id, path)
				continue
			}
		}
		kept = append(kept, x)
	}
	switch {
	case len(list) == 0:
	case len(kept) == 0:
		delete(w.paths, path)
	default:
		w.paths[path] = kept
	}
}

func (w *Watches) forget(id WatcherID, path string) {
	mine := w.byID[id]
	if delete(mine, path); len(mine) == 0 {
		delete(w.byID, id)
	}
}

// Drop takes all watches of a connection away.
func (w *Watches) Drop(id WatcherID) {
	w.DropSome(id, len(w.byID[id]))
}

// DropSome takes the watches of at most that many paths away, so that who has very many doesn't hold the
// lock for long; true: there are more.
func (w *Watches) DropSome(id WatcherID, paths int) bool {
	mine := w.byID[id]
	for path := range mine {
		if paths--; paths < 0 {
			return true
		}
		list := w.paths[path]
		i, _ := find(list, id)
		w.account(list[i].kinds, 0)
		if list = slices.Delete(list, i, i+1); len(list) == 0 {
			delete(w.paths, path)
		} else {
			w.paths[path] = list
		}
		delete(mine, path)
	}
	delete(w.byID, id)
	return false
}

// Trigger gives the notices of one change, in order, and uses up the watches that one event uses up. Who may
// not read is in there too: the driver leaves them out by Notice.ACL. All is valid until the next call.
func (w *Watches) Trigger(zxid Zxid, c *Change) []Notice {
	w.ids, w.notices = w.ids[:0], w.notices[:0]
	if len(w.paths) == 0 {
		return nil
	}
	told := w.fire(c.notice(zxid, c.Type), WatchData, nil)
	if c.Type == jute.EventNodeDataChanged {
		return w.notices
	}
	if c.Type == jute.EventNodeDeleted {
		w.fire(c.notice(zxid, c.Type), WatchChild, told)
	}
	w.fire(c.notice(zxid, jute.EventNodeChildrenChanged), WatchChild, nil)
	return w.notices
}

// notice is what there is to tell of a change, to nobody yet. That of children is about the parent.
func (c *Change) notice(zxid Zxid, e jute.EventType) Notice {
	n := Notice{Zxid: zxid, ACL: c.ACL}
	n.Event = jute.WatcherEvent{Type: e, State: jute.StateSyncConnected, Path: c.Path}
	if e == jute.EventNodeChildrenChanged {
		n.ACL = c.ParentACL
		parent, _ := split(c.Path)
		n.Event.Path = named(parent)
	}
	return n
}

// fire is an event in one of Apache's tables, named by its one-shot kind. told hear nothing again.
func (w *Watches) fire(n Notice, table Kind, told []WatcherID) []WatcherID {
	path, hear := n.Event.Path, ofChild
	if table == WatchData {
		hear = ofData
	}
	from, oneShot := len(w.ids), false
	for _, x := range w.paths[path] {
		if x.kinds&hear == 0 {
			continue
		}
		oneShot = oneShot || x.kinds&table != 0
		if _, dup := slices.BinarySearch(told, x.id); !dup {
			w.ids = append(w.ids, x.id)
		}
	}
	if oneShot {
		w.take(path, table, func(WatcherID) bool { return true })
	}
	if table == WatchData && w.recursive > 0 {
		w.fireAbove(path, from)
	}
	if n.Watchers = w.ids[from:len(w.ids):len(w.ids)]; len(n.Watchers) > 0 {
		w.notices = append(w.notices, n)
	}
	return n.Watchers
}

// fireAbove adds who watches a parent with all below it, each once.
func (w *Watches) fireAbove(path string, from int) {
	n := len(w.ids)
	for path != "/" {
		path, _ = split(path)
		path = named(path)
		for _, x := range w.paths[path] {
			if x.kinds&WatchRecursive != 0 {
				w.ids = append(w.ids, x.id)
			}
		}
	}
	if len(w.ids) > n {
		slices.Sort(w.ids[from:])
		w.ids = w.ids[:from+len(slices.Compact(w.ids[from:]))]
	}
}

// Restore is setWatches: registers what a reconnected client had, and gives the events of what happened
// meanwhile, in order, those of nodes it may not read left out.
func (w *Watches) Restore(id WatcherID, v *View, r *jute.SetWatches, ids []jute.ID) []jute.WatcherEvent {
	var out []jute.WatcherEvent
	tell := func(e jute.EventType, path string, n *node) {
		if n == nil || v.guard.permits(n.acl.list, jute.PermRead, ids) {
			out = append(out, jute.WatcherEvent{Type: e, State: jute.StateSyncConnected, Path: path})
		}
	}
	for _, path := range r.Data {
		switch n := lookup(v.root, path); {
		case n == nil:
			tell(jute.EventNodeDeleted, path, nil)
		case n.mzxid > r.RelativeZxid:
			tell(jute.EventNodeDataChanged, path, n)
		default:
			w.Add(id, path, WatchData)
		}
	}
	for _, path := range r.Exist {
		if n := lookup(v.root, path); n != nil {
			tell(jute.EventNodeCreated, path, n)
		} else {
			w.Add(id, path, WatchData)
		}
	}
	for _, path := range r.Child {
		switch n := lookup(v.root, path); {
		case n == nil:
			tell(jute.EventNodeDeleted, path, nil)
		case n.pzxid > r.RelativeZxid:
			tell(jute.EventNodeChildrenChanged, path, n)
		default:
			w.Add(id, path, WatchChild)
		}
	}
	for _, path := range r.Persistent {
		w.Add(id, path, WatchPersistent)
	}
	for _, path := range r.PersistentRecursive {
		w.Add(id, path, WatchRecursive)
	}
	return out
}

// Count is the number of watches as Apache counts: a persistent one is in both its tables.
func (w *Watches) Count() int { return w.count }

// CountOf is the number of paths a connection watches, to bound it.
func (w *Watches) CountOf(id WatcherID) int { return len(w.byID[id]) }

// Summary counts what wchs does: watches of nodes, not those of children.
func (w *Watches) Summary() (watchers, paths, watches int) {
	who := map[WatcherID]struct{}{}
	for _, list := range w.ByPath() {
		paths++
		watches += len(list)
		for _, id := range list {
			who[id] = struct{}{}
		}
	}
	return len(who), paths, watches
}

// ByPath are the watched paths, sorted, and who watches the node (wchp).
func (w *Watches) ByPath() iter.Seq2[string, []WatcherID] {
	return func(yield func(string, []WatcherID) bool) {
		for _, path := range slices.Sorted(maps.Keys(w.paths)) {
			var ids []WatcherID
			for _, x := range w.paths[path] {
				if x.kinds&ofData != 0 {
					ids = append(ids, x.id)
				}
			}
			if ids != nil && !yield(path, ids) {
				return
			}
		}
	}
}

// ByWatcher are the watchers by id, and the nodes they watch (wchc).
func (w *Watches) ByWatcher() iter.Seq2[WatcherID, []string] {
	return func(yield func(WatcherID, []string) bool) {
		for _, id := range slices.Sorted(maps.Keys(w.byID)) {
			var paths []string
			for _, path := range slices.Sorted(maps.Keys(w.byID[id])) {
				list := w.paths[path]
				if i, _ := find(list, id); list[i].kinds&ofData != 0 {
					paths = append(paths, path)
				}
			}
			if paths != nil && !yield(id, paths) {
				return
			}
		}
	}
}
