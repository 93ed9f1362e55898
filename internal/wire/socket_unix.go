//go:build unix

package wire

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// ioState is what the callbacks of RawConn work on; the callbacks are made once, so that no read or write
// allocates.
type ioState struct {
	onRead, onWrite func(fd uintptr) bool
	n               int
	err             error
	b               []byte // to write
	more            bool   // more follows at once: don't send a short packet
	file            FileRange
	off             int

	// For tryWrite, which isn't called by the connection's goroutine, which may be reading.
	onTry func(fd uintptr) bool
	try   []byte
	tried int
}

func (c *Conn) initIO() error {
	raw, err := c.nc.SyscallConn()
	if err != nil {
		return err
	}
	c.raw = raw
	c.io.onRead = c.readReady
	c.io.onWrite = c.writeReady
	c.io.onTry = c.tryReady
	return nil
}

// read reads what is there into space, waiting for something without holding a buffer.
func (c *Conn) read() (int, error) {
	c.io.n, c.io.err = 0, nil
	if err := c.raw.Read(c.io.onRead); err != nil {
		return 0, err
	}
	return c.io.n, c.io.err
}

func (c *Conn) readReady(fd uintptr) bool {
	for {
		b := c.space()
		n, err := readNow(int(fd), b)
		switch {
		case n > 0:
			c.adapt(n, len(b))
			c.io.n = n
			return true
		case n == 0:
			c.io.err = io.EOF
			return true
		case errors.Is(err, syscall.EAGAIN):
			c.rest()
			return false
		case !errors.Is(err, syscall.EINTR):
			c.io.err = err
			return true
		}
	}
}

// write writes all of b.
func (c *Conn) write(b []byte, more bool) error {
	c.io.b, c.io.more, c.io.file, c.io.err = b, more, nil, nil
	err := c.raw.Write(c.io.onWrite)
	c.io.b = nil
	if err != nil {
		return err
	}
	return c.io.err
}

func (c *Conn) writeReady(fd uintptr) bool {
	if c.io.file != nil {
		return c.sendReady(int(fd))
	}
	for len(c.io.b) > 0 {
		n, err := sendBytes(int(fd), c.io.b, c.io.more)
		switch {
		case n > 0:
			c.io.b = c.io.b[n:]
		case errors.Is(err, syscall.EAGAIN):
			c.progress()
			return false
		case !errors.Is(err, syscall.EINTR):
			c.io.err = err
			return true
		}
	}
	return true
}

// tryWrite writes what the socket takes at once.
func (c *Conn) tryWrite(b []byte) int {
	c.io.try, c.io.tried = b, 0
	_ = c.raw.Write(c.io.onTry) // if it fails, so will the goroutine's own write
	c.io.try = nil
	return c.io.tried
}

func (c *Conn) tryReady(fd uintptr) bool {
	n, _ := writeNow(int(fd), c.io.try)
	c.io.tried = max(n, 0)
	return true
}

// setBacklog changes a listening socket's backlog, which the net package takes from the OS.
func setBacklog(l *net.TCPListener, n int) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var lerr error
	if err := raw.Control(func(fd uintptr) { lerr = syscall.Listen(int(fd), n) }); err != nil {
		return err
	}
	return lerr
}

// setReceiveBuffer sets a socket's receive buffer.
func setReceiveBuffer(raw syscall.RawConn, n int) error {
	var serr error
	if err := raw.Control(func(fd uintptr) {
		serr = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, n)
	}); err != nil {
		return err
	}
	return serr
}
