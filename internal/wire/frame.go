package wire

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
)

// process handles every whole request in the buffer. False: close once what was written is out.
func (c *Conn) process() bool {
	begins := c.need == 0
	for ; c.in != nil; begins = true {
		b := c.in.b[c.r:c.w]
		c.need = 0
		if len(b) < 4 {
			c.partial(len(b), true)
			return true
		}
		size := int32(binary.BigEndian.Uint32(b))
		if size <= 0 || size > c.srv.cfg.MaxFrame {
			return c.bad(fmt.Sprintf("frame of %d bytes (socket.request.max.bytes is %d)", size, c.srv.cfg.MaxFrame))
		}
		if len(b)-4 < int(size) {
			c.need = int(size) + 4
			c.partial(len(b), begins)
			return true
		}
		c.r += int(size) + 4
		if !c.handle(b[4:4+size]) || !c.pause() {
			return false
		}
		if len(c.out.B) >= busyBuffer || len(c.out.files) >= 64 {
			if c.flush() != nil {
				return false
			}
		}
	}
	return true
}

// partial notes that n bytes of a frame are there, and whether those are its first.
func (c *Conn) partial(n int, begins bool) {
	if begins {
		c.frameAt.Store(ticks(c.now))
	}
	c.frameGot.Store(int64(n))
}

func (c *Conn) bad(reason string) bool {
	c.failure = reason
	c.srv.cfg.Metrics.BadFrames.Inc()
	return false
}

// handle serves one frame.
func (c *Conn) handle(frame []byte) bool {
	r := c.req
	if reason := c.parseHeader(r, frame); reason != "" {
		return c.bad(reason)
	}
	if r.api == nil {
		if r.Key != keyApiVersions || c.table.apis[keyApiVersions] == nil {
			return c.bad(fmt.Sprintf("no API %d of version %d here", r.Key, r.Version))
		}
		c.refuseApiVersions(r)
		return true
	}
	most := r.api.MaxBody
	if most == 0 {
		most = c.srv.cfg.MaxBody
	}
	if len(r.Body) > most {
		return c.bad(fmt.Sprintf("body of %d bytes for API %d (at most %d)", len(r.Body), r.Key, most))
	}
	if !c.reserve(r.Key, true) {
		return false
	}
	r.Received, r.Size = c.now, len(frame)
	r.resume = nil
	r.state.Store(pending)
	c.woken.Store(false)
	if !r.api.Reuse {
		c.req = new(Request)
	}
	c.serveRequest(r)
	r.Body = nil
	if r.state.Load() != done && !c.await(r) {
		return false
	}
	c.returned()
	return c.failure == ""
}

// serveRequest calls Serve and, where there are quotas, takes the time.
func (c *Conn) serveRequest(r *Request) {
	if !r.began.IsZero() {
		r.began = time.Time{}
		r.busy.Store(0)
	}
	if q := c.srv.cfg.Quotas; q == nil || c.table.vital || !q.On() {
		r.api.Serve(r)
		return
	}
	r.began = time.Now()
	r.api.Serve(r)
	if r.state.Load() != done {
		r.busy.Store(int64(max(time.Since(r.began), 1)))
	}
}

// parseHeader reads the request header into r; what is wrong with it, if anything.
func (c *Conn) parseHeader(r *Request, b []byte) string {
	if len(b) < 10 {
		return fmt.Sprintf("request header cut off after %d bytes", len(b))
	}
	r.Conn = c
	r.Key = int16(binary.BigEndian.Uint16(b))
	r.Version = int16(binary.BigEndian.Uint16(b[2:]))
	r.CorrelationID = int32(binary.BigEndian.Uint32(b[4:]))
	if r.Key < 0 || r.Key > maxKey {
		return fmt.Sprintf("unknown API %d", r.Key)
	}
	r.api = c.table.find(r.Key, r.Version)
	n := int(int16(binary.BigEndian.Uint16(b[8:])))
	b = b[10:]
	if n > len(b) || n < -1 {
		return fmt.Sprintf("client id of %d bytes in a frame with %d left", n, len(b))
	}
	if n = max(n, 0); string(b[:n]) != c.clientID {
		c.clientID = string(b[:n])
	}
	r.ClientID = c.clientID
	b = b[n:]
	if flexible(r.Key, r.Version) {
		var ok bool
		if b, ok = SkipTags(b); !ok {
			return "tagged fields of the request header are cut off"
		}
	}
	r.Body = b
	return ""
}

// refuseApiVersions answers a version of ApiVersions that isn't served: in version 0, with just the row of
// ApiVersions, so that the client can choose again (broker.md 1.2).
func (c *Conn) refuseApiVersions(r *Request) {
	row := c.table.apis[keyApiVersions].row()
	r.Version = 0
	r.Received = c.now
	r.resume = nil
	r.state.Store(pending)
	o := r.Begin()
	o.B = binary.BigEndian.AppendUint16(o.B, uint16(kerr.UnsupportedVersion))
	o.B = binary.BigEndian.AppendUint32(o.B, 1)
	o.B = binary.BigEndian.AppendUint16(o.B, uint16(row.ApiKey))
	o.B = binary.BigEndian.AppendUint16(o.B, uint16(row.MinVersion))
	o.B = binary.BigEndian.AppendUint16(o.B, uint16(row.MaxVersion))
	r.End(o)
}

// SkipTags skips a section of tagged fields.
func SkipTags(b []byte) (rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 {
		return nil, false
	}
	for b = b[k:]; n > 0; n-- {
		_, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, false
		}
		size, l := binary.Uvarint(b[k:])
		if l <= 0 || size > uint64(len(b)-k-l) {
			return nil, false
		}
		b = b[k+l+int(size):]
	}
	return b, true
}
