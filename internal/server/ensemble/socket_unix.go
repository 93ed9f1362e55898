//go:build unix

package ensemble

import (
	"errors"
	"io"
	"syscall"

	"github.com/kalda/kalda/internal/wire"
)

// socket reads and writes without holding a buffer while it waits. The callbacks are made once, so that
// nothing is allocated.
type socket struct {
	raw     syscall.RawConn
	onRead  func(fd uintptr) bool
	onWrite func(fd uintptr) bool
	n       int
	err     error

	b    []byte // of a write, which one goroutine at a time does
	wait bool
	sent int
	werr error
}

func (k *socket) init(c *conn) (err error) {
	k.raw, err = c.nc.SyscallConn()
	k.onRead = func(fd uintptr) bool { return k.readReady(c, int(fd)) }
	k.onWrite = func(fd uintptr) bool { return k.writeReady(int(fd)) }
	return err
}

func (k *socket) read(c *conn) (int, error) {
	k.n, k.err = 0, nil
	if err := k.raw.Read(k.onRead); err != nil {
		return 0, err
	}
	return k.n, k.err
}

func (k *socket) readReady(c *conn, fd int) bool {
	for {
		b := c.space()
		n, err := wire.ReadNow(fd, b)
		switch {
		case n > 0:
			c.adapt(n, len(b))
			k.n = n
			return true
		case n == 0:
			k.err = io.EOF
			return true
		case errors.Is(err, syscall.EAGAIN):
			c.rest()
			return false
		case !errors.Is(err, syscall.EINTR):
			k.err = err
			return true
		}
	}
}

// tryWrite writes what the socket takes at once.
func (k *socket) tryWrite(b []byte) (int, error) { return k.put(b, false) }

// write writes all of b.
func (k *socket) write(b []byte) error {
	_, err := k.put(b, true)
	return err
}

func (k *socket) put(b []byte, wait bool) (int, error) {
	k.b, k.wait, k.sent, k.werr = b, wait, 0, nil
	err := k.raw.Write(k.onWrite)
	k.b = nil
	if err == nil {
		err = k.werr
	}
	return k.sent, err
}

func (k *socket) writeReady(fd int) bool {
	for k.sent < len(k.b) {
		n, err := wire.WriteNow(fd, k.b[k.sent:])
		switch {
		case n > 0:
			k.sent += n
		case errors.Is(err, syscall.EAGAIN):
			return !k.wait
		case !errors.Is(err, syscall.EINTR):
			k.werr = err
			return true
		}
	}
	return true
}
