package node

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxAnswer bounds what a controller may send back.
const maxAnswer = 100 << 20

var errConnClosed = errors.New("connection to the controller closed")

// rpcConn is one pipelined connection to a controller: requests go out in order, answers come back by
// correlation id.
type rpcConn struct {
	conn net.Conn
	form *kmsg.RequestFormatter

	mu      sync.Mutex // guards the fields below; never held across I/O on conn's read side
	next    int32
	waiting map[int32]rpcCall
	err     error
}

type rpcCall struct {
	resp kmsg.Response
	done func(kmsg.Response, error)
}

func dialRPC(ctx context.Context, addr, clientID string) (*rpcConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &rpcConn{
		conn: conn, form: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID)),
		waiting: make(map[int32]rpcCall),
	}
	go c.read()
	return c, nil
}

// send writes req and calls done once, with the answer or the error that ended the connection.
func (c *rpcConn) send(req kmsg.Request, done func(kmsg.Response, error)) {
	c.mu.Lock()
	if err := c.err; err != nil {
		c.mu.Unlock()
		done(nil, err)
		return
	}
	id := c.next
	c.next++
	c.waiting[id] = rpcCall{resp: req.ResponseKind(), done: done}
	frame := c.form.AppendRequest(nil, req, id)
	_, err := c.conn.Write(frame)
	c.mu.Unlock()
	if err != nil {
		c.fail(err)
	}
}

func (c *rpcConn) read() {
	r := bufio.NewReader(c.conn)
	for {
		if err := c.readOne(r); err != nil {
			c.fail(err)
			return
		}
	}
}

func (c *rpcConn) readOne(r *bufio.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := int32(binary.BigEndian.Uint32(head[:]))
	if n < 4 || n > maxAnswer {
		return fmt.Errorf("answer of %d bytes", n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	id := int32(binary.BigEndian.Uint32(body))
	c.mu.Lock()
	call, ok := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if !ok {
		return fmt.Errorf("answer to no request: correlation id %d", id)
	}
	resp, err := decodeAnswer(call.resp, body[4:])
	call.done(resp, err)
	return err
}

func decodeAnswer(resp kmsg.Response, b []byte) (kmsg.Response, error) {
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		r := kbin.Reader{Src: b}
		kmsg.SkipTags(&r)
		b = r.Src
	}
	if err := resp.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("answer to %s: %w", kmsg.NameForKey(resp.Key()), err)
	}
	return resp, nil
}

// fail ends the connection and every call that still waits.
func (c *rpcConn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = fmt.Errorf("%w: %w", errConnClosed, err)
	}
	err = c.err
	waiting := c.waiting
	c.waiting = make(map[int32]rpcCall)
	c.mu.Unlock()
	_ = c.conn.Close()
	for _, call := range waiting {
		call.done(nil, err)
	}
}

func (c *rpcConn) broken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}
