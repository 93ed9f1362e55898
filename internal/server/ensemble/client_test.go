package ensemble_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
)

// client is the least that speaks to a server: one request at a time, nothing done again by itself.
type client struct {
	nc       net.Conn
	xid      int32
	session  jute.SessionID
	password []byte
	seen     jute.Zxid
	events   []jute.WatcherEvent
}

// patience bounds every wait of a client, so that a test ends.
const patience = 20 * time.Second

// dial connects with a new session, or with the one that old had.
func dial(addr string, old *client) (*client, error) {
	nc, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	c := &client{nc: nc, password: make([]byte, 16)}
	if old != nil {
		c.session, c.password, c.seen = old.session, old.password, old.seen
	}
	r := jute.ConnectRequest{
		LastZxidSeen: c.seen, Timeout: 30000, SessionID: c.session, Password: c.password, HasReadOnly: true,
	}
	b, err := c.exchange(r.Append(nil))
	if err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	var a jute.ConnectResponse
	d := jute.NewDecoder(b, 0)
	if a.Decode(d); d.Err() != nil || a.SessionID == 0 {
		return nil, errors.Join(fmt.Errorf("no session: %+v, %w", a, d.Err()), nc.Close())
	}
	c.session, c.password = a.SessionID, a.Password
	return c, nil
}

func (c *client) close() {
	if c != nil {
		_ = c.nc.Close()
	}
}

func (c *client) exchange(payload []byte) ([]byte, error) {
	if err := c.send(payload); err != nil {
		return nil, err
	}
	return c.receive()
}

func (c *client) send(payload []byte) error {
	_ = c.nc.SetDeadline(time.Now().Add(patience))
	_, err := c.nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...))
	return err
}

func (c *client) receive() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.nc, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c.nc, b)
	return b, err
}

// call sends a request and waits for its reply; into may be nil. An error says that the connection is of no use any more.
func (c *client) call(op jute.OpCode, body, into jute.Record) (jute.Code, error) {
	c.xid++
	b := (&jute.RequestHeader{Xid: c.xid, Type: op}).Append(nil)
	if body != nil {
		b = body.Append(b)
	}
	if err := c.send(b); err != nil {
		return 0, err
	}
	for {
		b, err := c.receive()
		if err != nil {
			return 0, err
		}
		d := jute.NewDecoder(b, 0)
		var h jute.ReplyHeader
		if h.Decode(d); h.Xid == jute.XidNotification {
			var e jute.WatcherEvent
			e.Decode(d)
			c.events = append(c.events, e)
			continue
		}
		if h.Xid != c.xid {
			return 0, fmt.Errorf("the reply to %d came for %d", h.Xid, c.xid)
		}
		c.seen = max(c.seen, h.Zxid)
		if h.Err == jute.OK && into != nil {
			into.Decode(d)
		}
		return h.Err, d.Err()
	}
}

// create makes a node, open to all.
func (c *client) create(path string, flags int32, data string) (string, jute.Code, error) {
	var r jute.PathOnly
	body := &jute.CreateRequest{Path: path, Data: []byte(data), ACL: jute.OpenACL(), Flags: flags}
	code, err := c.call(jute.OpCreate, body, &r)
	return r.Path, code, err
}
