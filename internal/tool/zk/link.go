package zk

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
)

// link is one connection that has the session.
type link struct {
	conn net.Conn
	sent []*call // unanswered, in order; under the session's mu

	mu   sync.Mutex
	out  []byte        // to be written
	kick chan struct{} // there is something in out
	quit chan struct{}
}

// frame puts a length and a header before a body.
func frame(h jute.RequestHeader, body []byte) []byte {
	b := make([]byte, 4, 4+jute.RequestHeaderSize+len(body))
	b = append(h.Append(b), body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// special is a request with an xid of its own kind.
func special(xid int32, op jute.OpCode, r jute.Record) []byte {
	var body []byte
	if r != nil {
		body = r.Append(nil)
	}
	return frame(jute.RequestHeader{Xid: xid, Type: op}, body)
}

func (l *link) send(b []byte) {
	l.mu.Lock()
	l.out = append(l.out, b...)
	l.mu.Unlock()
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// write sends what is queued, and a ping when there was nothing for that long.
func (l *link) write(every time.Duration) {
	idle := time.NewTicker(every)
	defer idle.Stop()
	for {
		select {
		case <-l.kick:
			idle.Reset(every)
		case <-idle.C:
			l.send(special(jute.XidPing, jute.OpPing, nil))
		case <-l.quit:
			return
		}
		l.mu.Lock()
		b := l.out
		l.out = nil
		l.mu.Unlock()
		if _, err := l.conn.Write(b); err != nil {
			l.conn.Close() // the reader notices
			return
		}
	}
}

// connect serves the session on one connection until that breaks or the session ends.
func (s *Session) connect(addr string) {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout/time.Duration(len(s.cfg.Servers)))
	conn, err := s.cfg.Dial(ctx, addr)
	cancel()
	if err != nil {
		s.lost(nil)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	in := bufio.NewReader(conn)
	resp, err := s.handshake(conn, in)
	if err != nil {
		s.lost(nil)
		return
	}
	if resp.Timeout <= 0 {
		s.end(Expired)
		return
	}
	l := s.adopt(conn, resp)
	if l == nil {
		return
	}
	defer close(l.quit)
	go l.write(min(s.timeout/3, 10*time.Second))
	for {
		// Two thirds of the timeout leave time to find another server before the session expires.
		_ = conn.SetReadDeadline(time.Now().Add(s.timeout * 2 / 3))
		b, err := readFrame(in)
		if err == nil {
			err = s.onFrame(l, b)
		}
		if err != nil {
			s.lost(l)
			return
		}
	}
}

func (s *Session) handshake(conn net.Conn, in *bufio.Reader) (*jute.ConnectResponse, error) {
	s.mu.Lock()
	req := &jute.ConnectRequest{
		LastZxidSeen: s.lastZxid, Timeout: int32(s.cfg.Timeout / time.Millisecond), SessionID: s.id,
		Password: s.password, ReadOnly: s.cfg.ReadOnly, HasReadOnly: true,
	}
	s.mu.Unlock()
	_ = conn.SetDeadline(time.Now().Add(s.timeout))
	b := req.Append(make([]byte, 4))
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	if _, err := conn.Write(b); err != nil {
		return nil, err
	}
	b, err := readFrame(in)
	if err != nil {
		return nil, err
	}
	resp := &jute.ConnectResponse{}
	d := jute.NewDecoder(b, 0)
	resp.Decode(d)
	_ = conn.SetDeadline(time.Time{})
	return resp, d.Err()
}

// adopt makes the connection the session's: identities and watches first, then what waited for it.
func (s *Session) adopt(conn net.Conn, resp *jute.ConnectResponse) *link {
	l := &link{conn: conn, kick: make(chan struct{}, 1), quit: make(chan struct{})}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil
	}
	s.id, s.password = resp.SessionID, append([]byte(nil), resp.Password...)
	s.timeout = time.Duration(resp.Timeout) * time.Millisecond
	s.link, s.state = l, SyncConnected
	if resp.ReadOnly {
		s.state = ConnectedReadOnly
	}
	state := s.state
	for i := range s.auths {
		l.send(special(jute.XidAuth, jute.OpAuth, &s.auths[i]))
	}
	for _, r := range s.watches.restore(s.lastZxid) {
		op := jute.OpSetWatches
		if r.Two {
			op = jute.OpSetWatches2
		}
		l.send(special(jute.XidSetWatches, op, r))
	}
	for _, c := range s.waiting {
		s.sendLocked(c)
	}
	s.waiting = nil
	s.mu.Unlock()
	// The connection is told of before whoever waits for it goes on.
	s.tell(Event{Type: jute.EventNone, State: state, Zxid: -1})
	s.changed.Broadcast()
	return l
}

// lost fails what the connection left unanswered.
func (s *Session) lost(l *link) {
	s.mu.Lock()
	left := s.waiting
	s.waiting = nil
	tell := false
	if l != nil {
		left = append(l.sent, left...)
		tell = s.state.Alive() && !s.closing
		s.link, l.sent = nil, nil
		if s.state.Alive() {
			s.state = Disconnected
		}
	}
	code := s.deadCode()
	s.changed.Broadcast()
	s.mu.Unlock()
	if tell {
		s.tell(Event{Type: jute.EventNone, State: Disconnected, Zxid: -1})
	}
	for _, c := range left {
		c.reply <- reply{code: code}
	}
}

func (s *Session) end(state State) {
	s.mu.Lock()
	s.state = state
	s.changed.Broadcast()
	s.mu.Unlock()
}

// frameLimit is far above what a server sends: Apache's clients take 1 MB by default.
const frameLimit = 64 << 20

func readFrame(in *bufio.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > frameLimit {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

var errSession = errors.New("the session is over")

// onFrame handles a reply or a notification.
func (s *Session) onFrame(l *link, b []byte) error {
	d := jute.NewDecoder(b, 0)
	var h jute.ReplyHeader
	h.Decode(d)
	if d.Err() != nil {
		return d.Err()
	}
	switch h.Xid {
	case jute.XidPing, jute.XidSetWatches:
		return nil
	case jute.XidAuth:
		if h.Err == jute.AuthFailed {
			s.end(AuthFailed)
			return errSession
		}
		return nil
	case jute.XidNotification:
		return s.onNotification(h, d)
	}
	return s.onReply(l, h, d.Rest())
}

func (s *Session) onNotification(h jute.ReplyHeader, d *jute.Decoder) error {
	var e jute.WatcherEvent
	e.Decode(d)
	if d.Err() != nil {
		return d.Err()
	}
	s.mu.Lock()
	wanted := s.watches.onEvent(e.Type, e.Path)
	s.mu.Unlock()
	if wanted {
		s.tell(Event{Type: e.Type, State: State(e.State), Path: s.local(e.Path), Zxid: h.Zxid})
	}
	return nil
}

func (s *Session) onReply(l *link, h jute.ReplyHeader, body []byte) error {
	s.mu.Lock()
	if len(l.sent) == 0 || l.sent[0].xid != h.Xid {
		s.mu.Unlock()
		return fmt.Errorf("a reply to request %d, which is not next", h.Xid)
	}
	c := l.sent[0]
	l.sent = l.sent[1:]
	if h.Zxid > 0 {
		s.lastZxid = max(s.lastZxid, h.Zxid)
	}
	switch {
	case c.watch == 0:
	case h.Err == jute.OK:
		s.watches.add(c.path, c.watch)
	case h.Err == jute.NoNode && c.op == jute.OpExists:
		s.watches.add(c.path, watchExist)
	}
	s.mu.Unlock()
	c.reply <- reply{body: body, code: h.Err}
	return nil
}
