package ensemble

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestExpiry: a silent session goes, with its ephemerals and its connection; one that pings stays, whatever
// else it does.
func TestExpiry(t *testing.T) {
	s := serve(t, "minSessionTimeout=300")
	silent, alive := dial(t, s), dial(t, s)
	silent.connect(&jute.ConnectRequest{Timeout: 300})
	alive.connect(&jute.ConnectRequest{Timeout: 300})
	silent.create("/silent", "", jute.FlagEphemeral)
	alive.create("/alive", "", jute.FlagEphemeral)
	eventually(t, "the silent session's node goes", func() bool {
		alive.write(bytesOf(jute.XidPing, jute.OpPing, nil))
		alive.reply()
		_, there := s.View().Lookup("/silent")
		return !there
	})
	silent.closed()
	if _, _, code := alive.get("/alive", false); code != jute.OK {
		t.Error("the session that pinged:", code)
	}
	if n := s.Stats().Sessions; n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// TestSessionStorm: sessions that are opened and dropped, closed, or half opened, leave nothing.
func TestSessionStorm(t *testing.T) {
	s := serve(t, "maxClientCnxns=0", "minSessionTimeout=200")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 40 {
				c := dial(t, s)
				if i%4 == 3 {
					c.write([]byte{0, 0, 0, 45, 0})
				} else {
					c.connect(&jute.ConnectRequest{Timeout: 200})
					c.send(jute.OpCreate, createOf(fmt.Sprintf("/s%d-%d", w, i), "", jute.FlagEphemeral))
				}
				if i%4 == 1 {
					c.send(jute.OpCloseSession, nil)
				}
				_ = c.nc.Close()
			}
		})
	}
	wg.Wait()
	eventually(t, "nothing is left", func() bool {
		st := s.Stats()
		return st.Connections == 0 && st.Sessions == 0 && st.Ephemerals == 0 && st.Outstanding == 0
	})
}

// TestMovedSession: the old connection is closed, the new one writes.
func TestMovedSession(t *testing.T) {
	s := serve(t)
	a := open(t, s)
	b := a.again(s)
	a.closed()
	b.create("/mine", "", 0)
	if _, _, code := b.get("/mine", false); code != jute.OK {
		t.Error(code)
	}
}

// TestRestart: sessions, ephemerals and watches of a client that comes back to a restarted server.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := serveOn(t, nil, testConfig(t, dir))
	c := open(t, s)
	c.create("/e", "x", jute.FlagEphemeral)
	c.create("/p", "y", 0)
	zxid, digest := s.View().Zxid(), s.View().Digest()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = serveOn(t, nil, testConfig(t, dir))
	if v := s.View(); v.Zxid() != zxid || v.Digest() != digest {
		t.Errorf("zxid %v, digest %x: was %v, %x", v.Zxid(), v.Digest(), zxid, digest)
	}
	n := c.again(s)
	if _, stat, code := n.get("/e", false); code != jute.OK || stat.EphemeralOwner != c.session {
		t.Error(code, stat)
	}
	if h := n.must(jute.OpSetData, &jute.SetDataRequest{Path: "/p", Version: 0}, nil); h.Zxid != zxid+1 {
		t.Errorf("the first transaction after %v is %v", zxid, h.Zxid)
	}
	other := open(t, s)
	if other.session == n.session {
		t.Error("a session id was given out twice")
	}
}

// TestReaper: containers and nodes with a time to live.
func TestReaper(t *testing.T) {
	s := serve(t, "znode.container.checkIntervalMs=20", "extendedTypesEnabled=true",
		"znode.container.maxPerMinute=60000")
	c := open(t, s)
	box := createOf("/box", "", jute.FlagContainer)
	c.must(jute.OpCreateContainer, box, nil)
	c.create("/box/a", "", 0)
	c.must(jute.OpCreateTTL, &jute.CreateTTLRequest{
		CreateRequest: *createOf("/ttl", "", jute.FlagPersistentTTL), TTL: 50,
	}, nil)
	gone := func(path string) bool {
		_, there := s.View().Lookup(path)
		return !there
	}
	eventually(t, "the node outlives its time", func() bool { return gone("/ttl") })
	if gone("/box") {
		t.Error("a container with a child went")
	}
	c.must(jute.OpDelete, &jute.PathVersion{Path: "/box/a", Version: -1}, nil)
	eventually(t, "the container goes", func() bool { return gone("/box") })
}

// TestThrottle: far more requests than globalOutstandingLimit, from many connections, are all answered, in
// order, and never many more at once.
func TestThrottle(t *testing.T) {
	s := serve(t, "globalOutstandingLimit=20", "maxBatchSize=7", "maxClientCnxns=0")
	open(t, s).create("/n", "", 0)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				if n := s.outstanding.Load(); n > 20+8 {
					t.Errorf("%d requests in the pipeline", n)
					return
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	for range 8 {
		c := open(t, s)
		wg.Go(func() {
			const n = 300
			go func() {
				for range n {
					c.xid++
					_, _ = c.nc.Write(bytesOf(c.xid, jute.OpSetData, &jute.SetDataRequest{Path: "/n", Version: -1}))
				}
			}()
			for i := range int32(n) {
				if h, _ := c.reply(); h.Xid != i+1 || h.Err != jute.OK {
					t.Errorf("%+v", h)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	if n := s.outstanding.Load(); n != 0 {
		t.Errorf("%d left", n)
	}
}

// TestExitCodes are Apache's: 2 for a configuration, 3 for a directory that can't be used.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	for want, args := range map[int][]string{
		invalid: {filepath.Join(dir, "no.cfg")}, noDataDir: {"0", filepath.Join(file, "data")},
	} {
		if code := run(args, none, io.Discard, io.Discard); code != want {
			t.Errorf("%v: %d, expected %d", args, code, want)
		}
	}
}
