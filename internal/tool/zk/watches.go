package zk

import (
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// kinds are the ways in which a path is watched, as a set.
type kinds uint8

const (
	watchData kinds = 1 << iota
	watchExist
	watchChild
	watchPersistent
	watchRecursive
)

// watchTable is the watches that the server has for this session, by the server's path.
type watchTable map[string]kinds

func (w watchTable) add(path string, k kinds) { w[path] |= k }

func (w watchTable) drop(path string, k kinds) (had kinds) {
	had = w[path] & k
	if left := w[path] &^ k; left != 0 {
		w[path] = left
	} else {
		delete(w, path)
	}
	return had
}

// onEvent says whether somebody waits for the event, and forgets the watches that it used up.
func (w watchTable) onEvent(t jute.EventType, path string) bool {
	var used kinds
	switch t {
	case jute.EventNodeCreated, jute.EventNodeDataChanged:
		used = watchData | watchExist
	case jute.EventNodeChildrenChanged:
		used = watchChild
	case jute.EventNodeDeleted:
		used = watchData | watchExist | watchChild
	default:
		return true
	}
	stays := w[path] & watchPersistent
	return w.drop(path, used)|stays != 0 || t != jute.EventNodeChildrenChanged && w.recursive(path)
}

// recursive says whether the path or one above it has a recursive watch.
func (w watchTable) recursive(path string) bool {
	for {
		if w[path]&watchRecursive != 0 {
			return true
		}
		if path == "/" || path == "" {
			return false
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
		if path == "" {
			path = "/"
		}
	}
}

// restoreBytes bounds the paths of one setWatches, so that it stays below the server's limit of a frame.
const restoreBytes = 128 << 10

// restore gives the requests that tell a server of these watches.
func (w watchTable) restore(zxid jute.Zxid) (out []*jute.SetWatches) {
	paths := make([]string, 0, len(w))
	for path := range w {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var r *jute.SetWatches
	size := 0
	for _, path := range paths {
		if r == nil || size > restoreBytes {
			r = &jute.SetWatches{
				RelativeZxid: zxid, Data: []string{}, Exist: []string{}, Child: []string{},
				Persistent: []string{}, PersistentRecursive: []string{},
			}
			out, size = append(out, r), 0
		}
		size += w.addTo(r, path) * (len(path) + 4)
	}
	for _, r := range out {
		r.Two = len(r.Persistent)+len(r.PersistentRecursive) > 0
	}
	return out
}

// addTo puts the path into the lists that it belongs to, and says how many those are.
func (w watchTable) addTo(r *jute.SetWatches, path string) (n int) {
	lists := []struct {
		kind kinds
		list *[]string
	}{
		{watchData, &r.Data},
		{watchExist, &r.Exist},
		{watchChild, &r.Child},
		{watchPersistent, &r.Persistent},
		{watchRecursive, &r.PersistentRecursive},
	}
	for _, l := range lists {
		if w[path]&l.kind != 0 {
			*l.list = append(*l.list, path)
			n++
		}
	}
	return n
}
