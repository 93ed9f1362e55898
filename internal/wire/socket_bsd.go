//go:build unix && !linux

package wire

func sendBytes(fd int, b []byte, _ bool) (int, error) { return writeNow(fd, b) }

func (c *Conn) sendFile(f FileRange) error { return c.copyFile(f, 0) }

func (c *Conn) sendReady(int) bool { return true }
