package zklog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"io"

	"github.com/kalda/kalda/internal/format/jute"
)

// SnapshotVisitor is told what a snapshot holds, in the file's order.
type SnapshotVisitor interface {
	Session(id jute.SessionID, timeout int32)
	ACL(key int64, acl []jute.ACL)
	// Node gets a node, parents before children. The node and its data are valid during the call only.
	// An error says that there can't be such a node.
	Node(path string, n *jute.DataNode) error
}

// SnapshotInfo is what a snapshot says about itself.
type SnapshotInfo struct {
	Zxid     jute.Zxid  // of its name: all transactions up to it are in it, some later ones may be
	Digest   *Digest    // nil: none, or of a version that can't be compared
	Last     *jute.Zxid // the zxid at its end; nil: older writers leave it out
	Sessions int
	Nodes    int
}

// ReadSnapshot reads a snapshot, uncompressed, to its end. An error about its bytes is ErrCorrupt; the
// visitor has got a part of it then.
func ReadSnapshot(r io.Reader, v SnapshotVisitor) (*SnapshotInfo, error) {
	s := &snapReader{r: r, sum: adler32.New(), buf: make([]byte, 64<<10)}
	info := &SnapshotInfo{}
	s.all(v, info)
	switch {
	case s.err == nil:
		return info, nil
	case s.bad != "":
		return nil, fmt.Errorf("offset %d: %s: %w", s.pos(), s.bad, ErrCorrupt)
	case errors.Is(s.err, io.ErrUnexpectedEOF), errors.Is(s.err, io.EOF):
		return nil, fmt.Errorf("offset %d: the snapshot ends too early: %w", s.pos(), ErrCorrupt)
	}
	return nil, s.err
}

// snapReader takes fields off a stream, through a buffer that grows only as far as bytes come.
type snapReader struct {
	r          io.Reader
	sum        hash.Hash32
	buf        []byte
	start, end int   // what is in buf and not taken
	summed     int   // in buf, up to here the checksum has gone
	base       int64 // of buf[0] in the stream
	err        error
	bad        string // what is wrong, when the bytes are
}

func (s *snapReader) pos() int64 { return s.base + int64(s.start) }

func (s *snapReader) fail(format string, args ...any) {
	if s.err == nil {
		s.err, s.bad = ErrCorrupt, fmt.Sprintf(format, args...)
	}
}

// more reads until n bytes are there; false when the stream ends before.
func (s *snapReader) more(n int) bool {
	for s.err == nil && s.end-s.start < n {
		if s.end == len(s.buf) {
			s.room(n)
		}
		got, err := s.r.Read(s.buf[s.end:])
		s.end += got
		if err == io.EOF && s.end-s.start < n {
			return false
		}
		if err != nil && err != io.EOF {
			s.err = err
		}
	}
	return s.err == nil
}

// room moves what isn't taken to the buffer's start, or doubles it.
func (s *snapReader) room(n int) {
	s.hash()
	keep := s.buf[s.start:s.end]
	into := s.buf
	if len(keep) > len(s.buf)/2 {
		into = make([]byte, min(2*len(s.buf), max(n, len(s.buf)+flushAt)))
	}
	s.base += int64(s.start)
	s.end = copy(into, keep)
	s.buf, s.start, s.summed = into, 0, 0
}

// hash catches up with what was taken.
func (s *snapReader) hash() {
	s.sum.Write(s.buf[s.summed:s.start])
	s.summed = s.start
}

func (s *snapReader) take(n int) []byte {
	if !s.more(n) {
		if s.err == nil {
			s.err = io.ErrUnexpectedEOF
		}
		return nil
	}
	b := s.buf[s.start : s.start+n]
	s.start += n
	return b
}

func (s *snapReader) int() int32 {
	if b := s.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (s *snapReader) long() int64 {
	if b := s.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// count reads a number of things.
func (s *snapReader) count(what string) int {
	n := int(s.int())
	if n < 0 {
		s.fail("%d %s", n, what)
		return 0
	}
	return n
}

// text reads a string that must be there; it is valid until the next read.
func (s *snapReader) text(what string) []byte {
	n := int(s.int())
	if n < 0 {
		s.fail("a length of %d for %s", n, what)
		return nil
	}
	return s.take(n)
}

func (s *snapReader) all(v SnapshotVisitor, info *SnapshotInfo) {
	if magic := s.int(); s.err == nil && magic != snapMagic {
		s.fail("no snapshot: its magic number is wrong")
	}
	s.take(12) // version and database id, which nobody verifies
	for n := s.count("sessions"); n > 0 && s.err == nil; n-- {
		if id, timeout := s.long(), s.int(); s.err == nil {
			v.Session(jute.SessionID(id), timeout)
			info.Sessions++
		}
	}
	for n := s.count("access lists"); n > 0 && s.err == nil; n-- {
		if key, acl := s.long(), s.acl(); s.err == nil {
			v.ACL(key, acl)
		}
	}
	s.nodes(v, info)
	s.checkSeal()
	s.trailer(info)
}

func (s *snapReader) acl() []jute.ACL {
	n := s.int()
	if n == -1 {
		return nil
	}
	if n < 0 {
		s.fail("an access list of %d entries", n)
	}
	acl := []jute.ACL{}
	for ; n > 0 && s.err == nil; n-- {
		a := jute.ACL{Perms: s.int()}
		a.ID.Scheme = string(s.text("a scheme"))
		a.ID.ID = string(s.text("an identity"))
		acl = append(acl, a)
	}
	return acl
}

// nodes reads up to the path "/", which ends them. A node's path and body are put next to each other in the
// buffer, to be valid together.
func (s *snapReader) nodes(v SnapshotVisitor, info *SnapshotInfo) {
	var d jute.Decoder
	var node jute.DataNode
	for s.err == nil {
		path := s.text("a path")
		if s.err != nil || len(path) == 1 && path[0] == '/' {
			return
		}
		at, b := len(path), s.node(len(path))
		if s.err != nil {
			return
		}
		path, b = b[:at], b[at:]
		d.Reset(b)
		if node.Decode(&d); d.Err() != nil || d.Remaining() > 0 {
			s.fail("a malformed node")
			return
		}
		if err := v.Node(string(path), &node); err != nil {
			s.fail("node %q: %v", path, err)
			return
		}
		info.Nodes++
	}
}

// node takes the bytes of a node, and gives them with the path before them.
func (s *snapReader) node(path int) []byte {
	s.start -= path // keeps the path in the buffer; it isn't hashed before it is taken again
	if !s.more(path + 4) {
		s.take(path + 4)
		return nil
	}
	n := int(int32(binary.BigEndian.Uint32(s.buf[s.start+path:])))
	if n < -1 {
		s.fail("a length of %d for data", n)
		return nil
	}
	return s.take(path + 4 + max(0, n) + 8 + jute.StatPersistedSize)
}

// checkSeal compares the checksum of all before with the one that follows.
func (s *snapReader) checkSeal() {
	if s.err != nil {
		return
	}
	s.hash()
	sum := s.sum.Sum32()
	stored := s.long()
	end := s.text("a seal")
	if s.err == nil && (stored != int64(sum) || string(end) != "/") {
		s.fail("the checksum doesn't match")
	}
}

// Lengths of what may follow the first seal.
const (
	sealSize = 8 + 4 + 1
	lastSize = 8 + sealSize
)

// trailer reads what newer writers add: a digest, the last zxid, both or none. With the digest switched off
// the last zxid stands alone, and only its length tells.
func (s *snapReader) trailer(info *SnapshotInfo) {
	if !s.more(1) {
		return
	}
	if s.more(lastSize + 1) {
		zxid, version := s.long(), s.int()
		if version < digestVersion {
			s.text("a digest") // hexadecimal, of another kind of sum
		} else if value := s.long(); version == digestVersion {
			info.Digest = &Digest{jute.Zxid(zxid), uint64(value)}
		}
		s.checkSeal()
		if !s.more(1) {
			return
		}
	}
	last := jute.Zxid(s.long())
	info.Last = &last
	s.checkSeal()
	if s.more(1) {
		s.fail("bytes after the end")
	}
}
