package ensemble

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
)

// FuzzConn sends whatever to a server, after a handshake or instead of it. The server answers others as
// before, and holds on to nothing of it.
func FuzzConn(f *testing.F) {
	s := serve(f, "minSessionTimeout=100", "maxSessionTimeout=200", "maxClientCnxns=0")
	f.Add(true, bytesOf(1, jute.OpCreate, createOf("/a", "x", 0)))
	f.Add(true, bytesOf(2, jute.OpMulti, &jute.MultiRequest{Ops: []jute.Op{
		{Type: jute.OpCheck, Body: &jute.PathVersion{Path: "/a", Version: -1}},
		{Type: jute.OpSetData, Body: &jute.SetDataRequest{Path: "/a", Version: -1}},
	}}))
	f.Add(true, append(bytesOf(3, jute.OpGetData, &jute.PathWatch{Path: "/a", Watch: true}), 0, 0, 0, 8))
	f.Add(true, bytesOf(-8, jute.OpSetWatches2, &jute.SetWatches{
		Two: true, Data: []string{"/b"}, Persistent: []string{"/"},
	}))
	f.Add(false, []byte("mntr"))
	f.Add(false, []byte{0, 0, 0, 45, 0, 0})
	f.Fuzz(func(t *testing.T, greeted bool, b []byte) {
		nc, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if greeted {
			b = append(frameOf((&jute.ConnectRequest{Timeout: 200}).Append(nil)), b...)
		}
		if _, err := nc.Write(b); err != nil {
			return // it was disconnected before it had said all
		}
		_ = nc.(*net.TCPConn).CloseWrite()
		_ = nc.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, nc); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the connection stays open")
		}
		if h := open(t, s).call(jute.OpExists, &jute.PathWatch{Path: "/zookeeper"}, nil); h.Err != jute.OK {
			t.Error(h)
		}
	})
}
