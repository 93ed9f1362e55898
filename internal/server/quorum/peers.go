package quorum

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/kraft"
)

// maxResponse bounds what a peer may answer: two snapshots' or fetches' worth.
const maxResponse = 20 << 20

// peers is the connections to the other nodes: one a node, one request at a time, made when needed. A new
// request to a node abandons the one before, and its connection with it: whoever waits in a long fetch must
// not delay a vote.
type peers struct {
	ctx      context.Context
	stop     context.CancelFunc
	dial     func(ctx context.Context, address string) (net.Conn, error)
	timeout  time.Duration
	clientID string
	encoder  encoder
	listener string
	deliver  func(kraft.Input)

	wg sync.WaitGroup
	mu sync.Mutex
	to map[kraft.ID]*peerConn
}

// peerConn is one node's. current and next are guarded by peers.mu; the rest belongs to the goroutine that
// runs.
type peerConn struct {
	cancel  context.CancelFunc // of the request that runs; nil: none
	next    *kraft.Send
	addr    string
	conn    net.Conn
	in      *bufio.Reader
	correl  int32
	running bool
}

func newPeers(cfg *Config, deliver func(kraft.Input)) *peers {
	ctx, stop := context.WithCancel(context.Background())
	p := &peers{
		ctx: ctx, stop: stop, dial: cfg.Dial, timeout: cfg.RequestTimeout,
		clientID: "raft-client-" + strconv.Itoa(int(cfg.NodeID)), deliver: deliver, to: map[kraft.ID]*peerConn{},
	}
	if cfg.ClusterID != "" {
		p.encoder.clusterID = &cfg.ClusterID
	}
	p.listener = cfg.listener()
	return p
}

// send never blocks.
func (p *peers) send(s kraft.Send) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.to[s.To]
	if c == nil {
		c = &peerConn{}
		p.to[s.To] = c
	}
	c.next = &s
	if c.running {
		if c.cancel != nil {
			c.cancel()
		}
		return
	}
	c.running = true
	p.wg.Add(1)
	go p.run(c)
}

// run serves a node's requests as long as there are any, so that an idle peer costs no goroutine.
func (p *peers) run(c *peerConn) {
	defer p.wg.Done()
	for {
		p.mu.Lock()
		s := c.next
		c.next = nil
		if s == nil || p.ctx.Err() != nil {
			c.running, c.cancel = false, nil
			closed := p.ctx.Err() != nil
			p.mu.Unlock()
			if closed {
				c.drop()
			}
			return
		}
		ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
		c.cancel = cancel
		p.mu.Unlock()
		in, err := p.exchange(ctx, c, s)
		cancel()
		if err != nil {
			c.drop()
			in = kraft.Failed{Tag: s.Tag}
		}
		p.deliver(in)
	}
}

func (c *peerConn) drop() {
	if c.conn != nil {
		c.conn.Close()
		c.conn, c.in = nil, nil
	}
}

func (p *peers) exchange(ctx context.Context, c *peerConn, s *kraft.Send) (kraft.Input, error) {
	addr := net.JoinHostPort(s.At.Host, strconv.Itoa(int(s.At.Port)))
	reused := c.conn != nil && c.addr == addr
	if !reused {
		if err := p.connect(ctx, c, addr); err != nil {
			return nil, err
		}
	}
	req := p.encoder.request(s.Body)
	resp, err := p.roundTrip(ctx, c, req)
	if err != nil && reused && ctx.Err() == nil {
		// The other side may have closed an idle connection, or restarted: that says nothing about it now.
		if err = p.connect(ctx, c, addr); err == nil {
			resp, err = p.roundTrip(ctx, c, req)
		}
	}
	if err != nil {
		return nil, err
	}
	body, err := p.encoder.answer(resp, p.listener)
	if err != nil {
		return nil, err
	}
	return kraft.Answered{Tag: s.Tag, Body: body}, nil
}

// connect resolves anew each time: a name may not resolve yet, or move.
func (p *peers) connect(ctx context.Context, c *peerConn, addr string) error {
	c.drop()
	conn, err := p.dial(ctx, addr)
	if err != nil {
		return err
	}
	c.addr, c.conn, c.in = addr, conn, bufio.NewReaderSize(conn, 16<<10)
	return nil
}

func (p *peers) roundTrip(ctx context.Context, c *peerConn, req kmsg.Request) (kmsg.Response, error) {
	conn := c.conn
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	// An abandoned request ends at once.
	undo := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer undo()
	c.correl++
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(p.clientID)).AppendRequest(nil, req, c.correl)
	if _, err := conn.Write(frame); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	size := int32(binary.BigEndian.Uint32(head[:]))
	if size < 4 || size > maxResponse {
		return nil, fmt.Errorf("a response of %d bytes", size)
	}
	if id := int32(binary.BigEndian.Uint32(head[4:])); id != c.correl {
		return nil, fmt.Errorf("a response to request %d, not %d", id, c.correl)
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, err
	}
	resp := req.ResponseKind()
	if req.IsFlexible() {
		var err error
		if body, err = skipTags(body); err != nil {
			return nil, err
		}
	}
	return resp, resp.ReadFrom(body)
}

// skipTags leaves out a flexible response header's tagged fields.
func skipTags(b []byte) ([]byte, error) {
	n, w := binary.Uvarint(b)
	if w <= 0 {
		return nil, io.ErrUnexpectedEOF
	}
	b = b[w:]
	for ; n > 0; n-- {
		_, w := binary.Uvarint(b)
		if w <= 0 {
			return nil, io.ErrUnexpectedEOF
		}
		size, v := binary.Uvarint(b[w:])
		if v <= 0 || size > uint64(len(b)-w-v) {
			return nil, io.ErrUnexpectedEOF
		}
		b = b[w+v+int(size):]
	}
	return b, nil
}

// close abandons everything and waits.
func (p *peers) close() {
	p.stop()
	p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.to {
		c.drop()
	}
}
