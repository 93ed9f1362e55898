package wire

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// msgMore keeps the kernel from sending a short packet when a range of a file follows.
const msgMore = 0x8000

func sendBytes(fd int, b []byte, more bool) (int, error) {
	if more {
		return syscall.SendmsgN(fd, b, nil, nil, msgMore)
	}
	return writeNow(fd, b)
}

// maxSendfile is what one call is asked for: Linux moves at most this much.
const maxSendfile = 0x7ffff000

// sendFile sends a range from the page cache to the socket.
func (c *Conn) sendFile(f FileRange) error {
	if _, _, ok := f.Descriptor(); !ok || f.Len() == 0 {
		return c.copyFile(f, 0)
	}
	c.io.file, c.io.off, c.io.err = f, 0, nil
	err := c.raw.Write(c.io.onWrite)
	c.io.file = nil
	if err == nil {
		err = c.io.err
	}
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) { // a file system that can't
		return c.copyFile(f, c.io.off)
	}
	return err
}

func (c *Conn) sendReady(fd int) bool {
	f := c.io.file
	src, base, _ := f.Descriptor()
	for c.io.off < f.Len() {
		pos := base + int64(c.io.off)
		n, err := syscall.Sendfile(fd, int(src), &pos, min(f.Len()-c.io.off, maxSendfile))
		switch {
		case n > 0:
			c.io.off += n
		case errors.Is(err, syscall.EAGAIN):
			c.progress()
			return false
		case err == nil:
			c.io.err = fmt.Errorf("reading the log for a reply: %w", io.ErrUnexpectedEOF)
			return true
		case !errors.Is(err, syscall.EINTR):
			c.io.err = err
			return true
		}
	}
	return true
}
