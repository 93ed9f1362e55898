//go:build !unix

package ensemble

// socket is the net package's own reads and writes.
type socket struct{ c *conn }

func (k *socket) init(c *conn) error {
	k.c = c
	return nil
}

func (k *socket) read(c *conn) (int, error) {
	c.rest()
	b := c.space()
	n, err := c.nc.Read(b)
	if n > 0 {
		c.adapt(n, len(b))
		return n, nil
	}
	return 0, err
}

// tryWrite leaves all to a goroutine that may wait.
func (k *socket) tryWrite([]byte) (int, error) { return 0, nil }

func (k *socket) write(b []byte) error {
	_, err := k.c.nc.Write(b)
	return err
}
