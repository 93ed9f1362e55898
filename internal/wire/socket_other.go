//go:build !unix

package wire

import (
	"errors"
	"net"
	"syscall"
)

type ioState struct{}

func (c *Conn) initIO() error { return nil }

func (c *Conn) read() (int, error) {
	c.rest()
	b := c.space()
	n, err := c.nc.Read(b)
	if n > 0 {
		c.adapt(n, len(b))
		return n, nil
	}
	return 0, err
}

func (c *Conn) write(b []byte, _ bool) error {
	_, err := c.nc.Write(b)
	c.progress()
	return err
}

func (c *Conn) tryWrite([]byte) int { return 0 }

func (c *Conn) sendFile(f FileRange) error { return c.copyFile(f, 0) }

func setBacklog(*net.TCPListener, int) error { return nil }

func setReceiveBuffer(syscall.RawConn, int) error { return errors.ErrUnsupported }
