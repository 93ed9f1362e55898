package ensemble

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestWatchOrder is promise 1 of section 1.8: a notification comes before what shows the change; for an own
// write, before its reply.
func TestWatchOrder(t *testing.T) {
	s := serve(t)
	c := open(t, s)
	c.create("/n", "0", 0)
	c.get("/n", true)
	c.must(jute.OpSetData, &jute.SetDataRequest{Path: "/n", Data: []byte("1"), Version: -1}, nil)
	want := []jute.WatcherEvent{{Type: jute.EventNodeDataChanged, State: 3, Path: "/n"}}
	if diff := cmp.Diff(want, c.events); diff != "" {
		t.Error("before the reply to the write:", diff)
	}
	if c.must(jute.OpSetData, &jute.SetDataRequest{Path: "/n", Version: -1}, nil); len(c.events) != 1 {
		t.Error("a watch fired twice")
	}
}

// TestWatchRace: readers watch while a writer writes. Whoever read value n, and is notified, reads n+1 or
// later; whoever sees a value that is newer than the one it watches was notified before.
func TestWatchRace(t *testing.T) {
	s := serve(t)
	w := open(t, s)
	w.create("/n", "0", 0)
	const last = 100
	var wg sync.WaitGroup
	for range 4 {
		r, plain := open(t, s), open(t, s)
		wg.Go(func() { readAll(t, r, last) })
		wg.Go(func() { readForward(t, plain, last) })
	}
	for i := 1; i <= last; i++ {
		w.must(jute.OpSetData, &jute.SetDataRequest{Path: "/n", Data: []byte(strconv.Itoa(i)), Version: -1}, nil)
	}
	wg.Wait()
}

func readAll(t *testing.T, c *client, last int) {
	for {
		before, _, _ := c.get("/n", true)
		n, _ := strconv.Atoi(before)
		if len(c.events) > 0 {
			t.Error("an event of a watch that is used up:", c.events)
			return
		}
		if n == last {
			return
		}
		// Without another request: the event has to come by itself.
		if e := c.event(); e.Type != jute.EventNodeDataChanged {
			t.Error(e)
			return
		}
		after, _, _ := c.get("/n", false)
		if m, _ := strconv.Atoi(after); m <= n {
			t.Errorf("notified that %d changed, and read %d", n, m)
			return
		}
	}
}

// readForward polls with a watch set: a newer value without an event before it is a broken promise.
func readForward(t *testing.T, c *client, last int) {
	for {
		before, _, _ := c.get("/n", true)
		for {
			now, _, _ := c.get("/n", false)
			if now != before && len(c.events) == 0 {
				t.Errorf("read %s after %s, and was not notified", now, before)
				return
			}
			if len(c.events) > 0 {
				break
			}
			if now == strconv.Itoa(last) {
				return
			}
		}
		c.events = nil
	}
}

// TestWatchesGoWithConnection: they are the connection's, not the session's.
func TestWatchesGoWithConnection(t *testing.T) {
	s := serve(t)
	a := open(t, s)
	for i := range 20 {
		a.call(jute.OpExists, &jute.PathWatch{Path: fmt.Sprintf("/w%d", i), Watch: true}, nil)
	}
	if n := s.Stats().Watches; n != 20 {
		t.Errorf("%d watches", n)
	}
	b := a.again(s)
	eventually(t, "the old connection's watches go", func() bool { return s.Stats().Watches == 0 })
	b.create("/w1", "", 0)
	if len(b.events) > 0 {
		t.Error(b.events)
	}
}

// TestWatchLimit: one connection's watches are bounded by a key; those that it has it may set again.
func TestWatchLimit(t *testing.T) {
	s := serve(t, "kalda.maxWatchesPerConnection=3")
	c := open(t, s)
	for i := range 3 {
		c.call(jute.OpExists, &jute.PathWatch{Path: fmt.Sprintf("/w%d", i), Watch: true}, nil)
	}
	for _, r := range []struct {
		op jute.OpCode
		r  jute.Record
	}{
		{jute.OpExists, &jute.PathWatch{Path: "/w3", Watch: true}},
		{jute.OpGetData, &jute.PathWatch{Path: "/", Watch: true}},
		{jute.OpAddWatch, &jute.AddWatchRequest{Path: "/w4"}},
		{jute.OpSetWatches, &jute.SetWatches{Exist: []string{"/w5"}}},
	} {
		if h := c.call(r.op, r.r, nil); h.Err != jute.QuotaExceeded {
			t.Errorf("%v: %v", r.op, h.Err)
		}
	}
	if n := s.Stats().Watches; n != 3 {
		t.Errorf("%d watches", n)
	}
	if _, _, code := c.get("/", false); code != jute.OK {
		t.Error("a read without a watch:", code)
	}
}

// TestPersistentWatches: both modes, by two connections, one of which may not read a part.
func TestPersistentWatches(t *testing.T) {
	s := serve(t)
	a, b, w := open(t, s), open(t, s), open(t, s)
	a.must(jute.OpAddWatch, &jute.AddWatchRequest{Path: "/p", Mode: jute.AddPersistentRecursive}, nil)
	b.must(jute.OpAddWatch, &jute.AddWatchRequest{Path: "/p", Mode: jute.AddPersistent}, nil)
	w.write(bytesOf(jute.XidAuth, jute.OpAuth, &jute.AuthPacket{Scheme: "digest", Auth: []byte("w:w")}))
	w.reply()
	w.create("/p", "", 0)
	w.must(jute.OpCreate, &jute.CreateRequest{
		Path: "/p/secret", ACL: []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "auth"}}},
	}, nil)
	w.must(jute.OpSetData, &jute.SetDataRequest{Path: "/p/secret", Version: -1}, nil)
	w.must(jute.OpDelete, &jute.PathVersion{Path: "/p/secret", Version: -1}, nil)
	w.must(jute.OpDelete, &jute.PathVersion{Path: "/p", Version: -1}, nil)
	event := func(e jute.EventType, path string) jute.WatcherEvent {
		return jute.WatcherEvent{Type: e, State: 3, Path: path}
	}
	for name, c := range map[string]struct {
		c    *client
		want []jute.WatcherEvent
	}{
		"recursive, without what is secret": {a, []jute.WatcherEvent{
			event(jute.EventNodeCreated, "/p"), event(jute.EventNodeDeleted, "/p"),
		}},
		"persistent": {b, []jute.WatcherEvent{
			event(jute.EventNodeCreated, "/p"), event(jute.EventNodeChildrenChanged, "/p"),
			event(jute.EventNodeChildrenChanged, "/p"), event(jute.EventNodeDeleted, "/p"),
		}},
	} {
		_, _, _ = c.c.get("/", false)
		if diff := cmp.Diff(c.want, c.c.events); diff != "" {
			t.Error(name, diff)
		}
	}
}

// TestSlowReader: who doesn't read its notifications is disconnected when too much waits for it, and costs
// nobody else anything.
func TestSlowReader(t *testing.T) {
	s := serve(t, "kalda.maxOutgoingBytes=65536")
	slow, w := open(t, s), open(t, s)
	_ = slow.nc.(*net.TCPConn).SetReadBuffer(4096)
	path := "/" + strings.Repeat("n", 2000)
	slow.must(jute.OpAddWatch, &jute.AddWatchRequest{Path: path, Mode: jute.AddPersistent}, nil)
	w.create(path, "", 0)
	eventually(t, "the slow one is gone", func() bool {
		for range 500 {
			w.send(jute.OpSetData, &jute.SetDataRequest{Path: path, Version: -1})
		}
		for range 500 {
			if h, _ := w.reply(); h.Err != jute.OK {
				t.Fatal(h)
			}
		}
		return s.Stats().Connections == 1
	})
}
