package zk

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
)

// Config is what a session needs to begin.
type Config struct {
	Servers  []string // host:port, tried in random order
	Chroot   string   // the path that the caller knows as "/"; empty or without an end slash
	Timeout  time.Duration
	ReadOnly bool // a server without a quorum will do
	// Dial makes a connection; nil is plain TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// OnEvent is told of the connection's states and of watched nodes, one at a time and in order. It
	// must not call the session.
	OnEvent func(Event)
}

// Servers reads host:port[,host:port...][/chroot], the port being 2181 if there is none.
func Servers(text string) (servers []string, chroot string) {
	if i := strings.IndexByte(text, '/'); i >= 0 {
		text, chroot = text[:i], strings.TrimRight(text[i:], "/")
	}
	for host := range strings.SplitSeq(text, ",") {
		if host = strings.TrimSpace(host); host == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "2181")
		}
		servers = append(servers, host)
	}
	return servers, chroot
}

// Session is one session. Its methods may be called from any goroutine.
type Session struct {
	cfg  Config
	ctx  context.Context // until Close has cut the connection
	cut  context.CancelFunc
	done chan struct{} // closed when run has ended

	telling sync.Mutex // one event at a time

	mu       sync.Mutex
	changed  *sync.Cond // state or closing has changed
	state    State
	closing  bool
	id       jute.SessionID
	password []byte
	timeout  time.Duration // as negotiated
	lastZxid jute.Zxid
	xid      int32
	auths    []jute.AuthPacket
	watches  watchTable
	waiting  []*call // not sent yet
	link     *link   // nil while there is none
}

// call is one request on its way.
type call struct {
	xid   int32
	op    jute.OpCode
	frame []byte
	watch kinds  // what a success registers
	path  string // where; the server's path
	reply chan reply
}

type reply struct {
	body []byte
	code jute.Code
}

// Open begins a session; it connects by itself.
func Open(cfg Config) *Session {
	s := &Session{
		cfg: cfg, done: make(chan struct{}), timeout: cfg.Timeout,
		password: make([]byte, 16), watches: watchTable{},
	}
	if s.cfg.Dial == nil {
		s.cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}
	if s.cfg.OnEvent == nil {
		s.cfg.OnEvent = func(Event) {}
	}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.cut = context.WithCancel(context.Background())
	go s.run()
	return s
}

// State is the session's present state.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// WaitConnected waits until the session has a server, at most that long, and says whether it has.
func (s *Session) WaitConnected(limit time.Duration) bool {
	wake := time.AfterFunc(limit, s.changed.Broadcast)
	defer wake.Stop()
	deadline := time.Now().Add(limit)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.state == Disconnected && time.Now().Before(deadline) {
		s.changed.Wait()
	}
	return s.state == SyncConnected || s.state == ConnectedReadOnly
}

// ID is the session's name; 0 before it has one.
func (s *Session) ID() jute.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Close ends the session, at the server too if it can be reached.
func (s *Session) Close() {
	s.mu.Lock()
	var c *call
	if s.link != nil && !s.closing {
		c = &call{op: jute.OpCloseSession, reply: make(chan reply, 1)}
		s.sendLocked(c)
	}
	s.closing = true
	s.changed.Broadcast()
	limit := s.timeout
	s.mu.Unlock()
	if c != nil {
		select {
		case <-c.reply:
		case <-time.After(limit):
		}
	}
	s.cut()
	<-s.done
}

// tell hands an event on.
func (s *Session) tell(e Event) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.cfg.OnEvent(e)
}

// AddAuth gives the session another identity, on this connection and on those to come.
func (s *Session) AddAuth(scheme string, auth []byte) {
	p := jute.AuthPacket{Scheme: scheme, Auth: auth}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auths = append(s.auths, p)
	if s.link != nil {
		s.link.send(special(jute.XidAuth, jute.OpAuth, &p))
	}
}

// submit sends a request or keeps it for the next connection.
func (s *Session) submit(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.Alive() || s.closing {
		c.reply <- reply{code: s.deadCode()}
		return
	}
	if s.link == nil {
		s.waiting = append(s.waiting, c)
		return
	}
	s.sendLocked(c)
}

func (s *Session) sendLocked(c *call) {
	if s.xid++; s.xid <= 0 {
		s.xid = 1
	}
	c.xid = s.xid
	s.link.sent = append(s.link.sent, c)
	s.link.send(frame(jute.RequestHeader{Xid: c.xid, Type: c.op}, c.frame))
}

func (s *Session) deadCode() jute.Code {
	switch s.state {
	case Expired:
		return jute.SessionExpired
	case AuthFailed:
		return jute.AuthFailed
	default:
		return ConnectionLoss
	}
}

// run connects, again and again, until the session has ended.
func (s *Session) run() {
	defer close(s.done)
	defer s.cut()
	servers := append([]string(nil), s.cfg.Servers...)
	rand.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	for i := 0; s.goesOn(); i++ {
		if i > 0 {
			s.pause(i % len(servers))
		}
		s.connect(servers[i%len(servers)])
	}
	s.finish()
}

func (s *Session) goesOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closing && s.state.Alive() && len(s.cfg.Servers) > 0
}

// pause waits before the next server: shortly within the list, up to a second when all of it was tried.
func (s *Session) pause(within int) {
	wait := 100 * time.Millisecond
	if within == 0 {
		wait += time.Duration(rand.Int64N(int64(900 * time.Millisecond)))
	}
	deadline := time.Now().Add(wait)
	wake := time.AfterFunc(wait, s.changed.Broadcast)
	defer wake.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closing && time.Now().Before(deadline) {
		s.changed.Wait()
	}
}

// finish answers what is left and tells the end.
func (s *Session) finish() {
	s.mu.Lock()
	tell := Event{Type: jute.EventNone, State: Closed, Zxid: -1}
	if s.state.Alive() {
		s.state = Closed
	} else {
		tell.State = s.state
	}
	left, code := s.waiting, s.deadCode()
	s.waiting = nil
	s.changed.Broadcast()
	s.mu.Unlock()
	s.tell(tell)
	for _, c := range left {
		c.reply <- reply{code: code}
	}
}
