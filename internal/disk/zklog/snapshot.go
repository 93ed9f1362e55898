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
	Sessions iter.Seq2[jute.SessionID, int32]
	ACLs     iter.Seq2[int64, []jute.ACL]
	Nodes    iter.Seq2[string, jute.DataNode] // parents before children; the root's path is ""
	Digest   *Digest                          // nil: left out
	Last     *jute.Zxid                       // the last transaction, again, at the end; nil: left out
}

// Digest is the sum over a tree, and the transaction that it was taken after. Apache writes zeros as long as
// it has not applied a transaction since its start: a Zxid of 0 says that there is none.
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

// Encode writes the snapshot, uncompressed.
func (s *Snapshot) Encode(w io.Writer) error {
	o := &sealed{w: w, sum: adler32.New(), buf: make([]byte, 0, flushAt+4096)}
	o.buf = jute.AppendInt(jute.AppendInt(o.buf, snapMagic), fileVersion)
	o.buf = jute.AppendLong(o.buf, snapDBID)
	var table []byte // written after the number of its rows
	n := int32(0)
	for id, timeout := range s.Sessions {
		table = jute.AppendInt(jute.AppendLong(table, int64(id)), timeout)
		n++
	}
	o.buf = append(jute.AppendInt(o.buf, n), table...)
	table, n = table[:0], 0
	for key, acl := range s.ACLs {
		table = jute.AppendACLs(jute.AppendLong(table, key), acl)
		n++
	}
	o.buf = append(jute.AppendInt(o.buf, n), table...)
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
