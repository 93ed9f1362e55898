package wire

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// drop forgets what o holds.
func (o *Out) drop() {
	for i := range o.files {
		o.files[i].f.Release()
		o.files[i].f = nil
	}
	o.files = o.files[:0]
	o.B = o.B[:0]
}

// take moves what l holds behind what o holds.
func (o *Out) take(l *Out) {
	for _, f := range l.files {
		o.files = append(o.files, fileAt{len(o.B) + f.at, f.f})
	}
	o.B = append(o.B, l.B...)
	*l = Out{}
}

// flush writes what is due: in one write, or, where ranges of files lie between, in turns of writes and
// sendfiles.
func (c *Conn) flush() error {
	o := &c.out
	if len(o.B) == 0 {
		c.repay()
		return nil
	}
	c.charge(len(o.B))
	err := c.send(o)
	o.drop()
	c.repay()
	return err
}

func (c *Conn) send(o *Out) error {
	at, total := 0, len(o.B)
	for i := range o.files {
		f := &o.files[i]
		if f.at > at {
			if err := c.write(o.B[at:f.at], true); err != nil {
				return err
			}
			at = f.at
		}
		if err := c.sendFile(f.f); err != nil {
			return err
		}
		total += f.f.Len()
	}
	if at < len(o.B) {
		if err := c.write(o.B[at:], false); err != nil {
			return err
		}
	}
	c.srv.cfg.Metrics.ReplyBytes.Add(int64(total))
	return nil
}

// copyFile sends a range through memory: the portable way.
func (c *Conn) copyFile(f FileRange, off int) error {
	b := newBuffer(min(f.Len()-off, busyBuffer))
	defer b.free()
	for off < f.Len() {
		p := b.b[:min(f.Len()-off, len(b.b))]
		n, err := f.ReadAt(p, int64(off))
		if n < len(p) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("reading the log for a reply: %w", err)
		}
		if err := c.write(p, false); err != nil {
			return err
		}
		off += n
	}
	return nil
}

// progress notes that bytes left.
func (c *Conn) progress() { c.last.Store(ticks(time.Now())) }
