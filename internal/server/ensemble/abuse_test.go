package ensemble_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// request is one's frame.
func request(xid int32, op jute.OpCode, body jute.Record) []byte {
	b := (&jute.RequestHeader{Xid: xid, Type: op}).Append(nil)
	if body != nil {
		b = body.Append(b)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// heap is how much more than before the process has had in use, in MiB, looked at now and then while body runs and for
// some time after.
func heap(body func()) (most uint64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	done := make(chan struct{})
	go func() {
		defer close(done)
		body()
		time.Sleep(200 * time.Millisecond)
	}()
	for {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
		select {
		case <-done:
			return (max(most, before) - before) >> 20
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// largeNode is a node whose data is a few times as large as what may wait for a client.
const largeNode = 800 << 10

// TestSmallRequestsLargeReplies: a client that asks for much in few bytes, and reads nothing of it, costs the server no
// more than what may wait for it, and gets all as soon as it reads.
func TestSmallRequestsLargeReplies(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "")
	c := session(t, s)
	if _, code, err := c.create("/large", 0, string(make([]byte, largeNode))); err != nil || code != jute.OK {
		t.Fatal(code, err)
	}
	var all []byte
	for i := range int32(3000) {
		all = append(all, request(i, jute.OpGetData, &jute.PathWatch{Path: "/large"})...)
	}
	_ = c.nc.SetDeadline(time.Now().Add(patience))
	most := heap(func() {
		if _, err := c.nc.Write(all); err != nil {
			t.Error(err)
		}
	})
	if most > 150 {
		t.Errorf("%d MiB in use", most)
	}
	for i := range 200 {
		b, err := c.receive()
		if err != nil || len(b) < largeNode || int(binary.BigEndian.Uint32(b)) != i {
			t.Fatalf("reply %d: %d bytes, %v", i, len(b), err)
		}
	}
}

// TestLargeRepliesBehindAWrite: the same behind a write, where the head answers. Beyond what may wait the client goes.
func TestLargeRepliesBehindAWrite(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "-Dzookeeper.kalda.maxOutgoingBytes=20000000")
	c := session(t, s)
	if _, code, err := c.create("/large", 0, string(make([]byte, largeNode))); err != nil || code != jute.OK {
		t.Fatal(code, err)
	}
	all := request(1, jute.OpSetACL, &jute.SetACLRequest{Path: "/large", ACL: jute.OpenACL(), Version: -1})
	for i := range int32(600) {
		all = append(all, request(2+i, jute.OpGetData, &jute.PathWatch{Path: "/large"})...)
	}
	most := heap(func() {
		if _, err := c.nc.Write(all); err != nil {
			t.Error(err)
		}
	})
	if most > 200 {
		t.Errorf("%d MiB in use", most)
	}
	if _, code, err := session(t, s).create("/next", 0, ""); err != nil || code != jute.OK {
		t.Error("others are not served:", code, err)
	}
}

// TestWritesWithOddNumbersAreThrottled: pings, identities and restored watches have numbers below 1 and are let through
// when the server has its hands full; a write that calls itself so is not.
func TestWritesWithOddNumbersAreThrottled(t *testing.T) {
	const limit = 20
	faults := vfs.NewFaults(vfs.NewMem())
	s := onDisk(t, faults, fmt.Sprint("-Dzookeeper.globalOutstandingLimit=", limit))
	c := session(t, s)
	faults.Watch(func(_ int, op vfs.Op, _ string) {
		if op == vfs.OpSync {
			time.Sleep(3 * time.Millisecond)
		}
	})
	const n = 500
	go func() {
		for range n {
			b := request(0, jute.OpCreate, &jute.CreateRequest{Path: "/n-", ACL: jute.OpenACL(), Flags: jute.FlagPersistentSequential})
			if _, err := c.nc.Write(b); err != nil {
				return
			}
		}
	}()
	most := int64(0)
	for s.View().NodeCount() < n+5 {
		most = max(most, s.Stats().Outstanding)
		if _, err := c.receive(); err != nil {
			t.Fatal(err)
		}
	}
	if most > limit+1 {
		t.Errorf("%d requests in process, %d is the limit", most, limit)
	}
}

// TestIdentitiesAreBounded: each packet of a name adds one to what every check of the connection goes through.
func TestIdentitiesAreBounded(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "-Dzookeeper.kalda.maxIdentitiesPerConnection=50")
	c := session(t, s)
	added := 0
	for ; added < 200; added++ {
		auth := &jute.AuthPacket{Scheme: "digest", Auth: fmt.Appendf(nil, "user%d:x", added)}
		if code, err := c.call(jute.OpAuth, auth, nil); err != nil || code != jute.OK {
			break
		}
		same := &jute.AuthPacket{Scheme: "digest", Auth: []byte("user0:x")} // adds nothing
		if code, err := c.call(jute.OpAuth, same, nil); err != nil || code != jute.OK {
			t.Fatal(code, err)
		}
	}
	if added != 49 { // and its address
		t.Errorf("%d names", added)
	}
	if err := closed(c.nc); err != nil {
		t.Error(err)
	}
}

// TestAnnouncedFrames: a length alone reserves nothing.
func TestAnnouncedFrames(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "-Dzookeeper.jute.maxbuffer=50000000 -Dzookeeper.maxClientCnxns=0")
	most := heap(func() {
		for range 100 {
			c, err := dial(s.Addr().String(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(c.close)
			frame := append(binary.BigEndian.AppendUint32(nil, 49<<20), make([]byte, 3000)...)
			if _, err := c.nc.Write(frame); err != nil {
				t.Error(err)
			}
		}
	})
	if most > 100 {
		t.Errorf("%d MiB in use for 100 connections", most)
	}
}
