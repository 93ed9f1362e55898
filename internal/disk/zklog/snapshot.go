package zklog

import (
	"hash"
	"hash/adler32"
	"io"
	"iter"

	"github.com/kalda/kalda/internal/format/jute"
)

const (
	snapMagic     = 0x5a4b534e // "ZKSN"
	snapDBID      = -1
	digestVersion = 2
)

// Snapshot is what a snapshot file is written from.
type Snapshot struct {
	Zxid     jute.Zxid // the last transaction that is surely in it; it names the file
	Sessions []Session
	ACLs     []ACLEntry
	Nodes    iter.Seq2[string, *jute.DataNode] // parents before children; the root's path is ""
	Digest   *Digest                           // nil: left out
	Last     *jute.Zxid                        // the last transaction, again, at the end; nil: left out
}

// Session is a session that lives.
type Session struct {
	ID      jute.SessionID
	Timeout int32
}

// ACLEntry is an ACL under the key that nodes refer to it by.
type ACLEntry struct {
	Key int64
	ACL []jute.ACL
}

// Digest is the sum over a tree, and the transaction that it was taken after.
type Digest struct {
	Zxid  jute.Zxid
	Value uint64
}

// sealed writes a snapshot's bytes and, where a seal goes, the checksum of all before it.
type sealed struct {
	w   io.Writer
	sum hash.Hash32
	buf []byte
	err error
}

const flushAt = 64 << 10

func (s *sealed) flush() {
	if s.err == nil && len(s.buf) > 0 {
		s.sum.Write(s.buf)
		_, s.err = s.w.Write(s.buf)
	}
	s.buf = s.buf[:0]
}

func (s *sealed) seal() {
	s.flush()
	s.buf = jute.AppendLong(s.buf, int64(s.sum.Sum32()))
	s.buf = jute.AppendString(s.buf, "/")
}

// WriteTo writes the snapshot.
func (s *Snapshot) WriteTo(w io.Writer) error {
	o := &sealed{w: w, sum: adler32.New(), buf: make([]byte, 0, flushAt+4096)}
	o.buf = jute.AppendInt(jute.AppendInt(o.buf, snapMagic), fileVersion)
	o.buf = jute.AppendLong(o.buf, snapDBID)
	o.buf = jute.AppendInt(o.buf, int32(len(s.Sessions)))
	for _, e := range s.Sessions {
		o.buf = jute.AppendInt(jute.AppendLong(o.buf, int64(e.ID)), e.Timeout)
		o.step()
	}
	o.buf = jute.AppendInt(o.buf, int32(len(s.ACLs)))
	for _, e := range s.ACLs {
		o.buf = jute.AppendACLs(jute.AppendLong(o.buf, e.Key), e.ACL)
		o.step()
	}
	for path, node := range s.Nodes {
		o.buf = node.Append(jute.AppendString(o.buf, path))
		if o.step(); o.err != nil {
			return o.err
		}
	}
	o.buf = jute.AppendString(o.buf, "/")
	o.seal()
	if d := s.Digest; d != nil {
		o.buf = jute.AppendInt(jute.AppendLong(o.buf, int64(d.Zxid)), digestVersion)
		o.buf = jute.AppendLong(o.buf, int64(d.Value))
		o.seal()
	}
	if s.Last != nil {
		o.buf = jute.AppendLong(o.buf, int64(*s.Last))
		o.seal()
	}
	o.flush()
	return o.err
}

func (s *sealed) step() {
	if len(s.buf) >= flushAt {
		s.flush()
	}
}
