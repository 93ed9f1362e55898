package jute

// ID is an identity, or whom an ACL's entry is about.
type ID struct{ Scheme, ID string }

// ACL is one entry: what an identity may do.
type ACL struct {
	Perms int32
	ID    ID
}

// OpenACL lets everybody do everything.
func OpenACL() []ACL { return []ACL{{PermAll, ID{"world", "anyone"}}} }

// Append adds scheme and id.
func (i *ID) Append(dst []byte) []byte { return AppendString(AppendString(dst, i.Scheme), i.ID) }

// Decode reads scheme and id.
func (i *ID) Decode(d *Decoder) { i.Scheme, i.ID = d.String(), d.String() }

// Append adds the entry.
func (a *ACL) Append(dst []byte) []byte { return a.ID.Append(AppendInt(dst, a.Perms)) }

// Decode reads the entry.
func (a *ACL) Decode(d *Decoder) {
	a.Perms = d.Int()
	a.ID.Decode(d)
}

// AppendACLs adds a vector of entries; nil is null.
func AppendACLs(dst []byte, v []ACL) []byte {
	if v == nil {
		return AppendNull(dst)
	}
	dst = AppendInt(dst, int32(len(v)))
	for i := range v {
		dst = v[i].Append(dst)
	}
	return dst
}

// ACLs reads a vector of entries; nil for null.
func (d *Decoder) ACLs() []ACL {
	n := d.Count(12)
	if n < 0 {
		return nil
	}
	out := make([]ACL, n)
	for i := range out {
		out[i].Decode(d)
	}
	if d.bad {
		return nil
	}
	return out
}

// StatSize is the length of a Stat.
const StatSize = 68

// Stat is what clients see of a node beside its data.
type Stat struct {
	Czxid, Mzxid                Zxid
	Ctime, Mtime                int64
	Version, Cversion, Aversion int32
	EphemeralOwner              SessionID
	DataLength, NumChildren     int32
	Pzxid                       Zxid
}

// Append adds the 68 bytes.
func (s *Stat) Append(dst []byte) []byte {
	dst = AppendLong(AppendLong(dst, int64(s.Czxid)), int64(s.Mzxid))
	dst = AppendLong(AppendLong(dst, s.Ctime), s.Mtime)
	dst = AppendInt(AppendInt(AppendInt(dst, s.Version), s.Cversion), s.Aversion)
	dst = AppendLong(dst, int64(s.EphemeralOwner))
	dst = AppendInt(AppendInt(dst, s.DataLength), s.NumChildren)
	return AppendLong(dst, int64(s.Pzxid))
}

// Decode reads the 68 bytes.
func (s *Stat) Decode(d *Decoder) {
	s.Czxid, s.Mzxid = Zxid(d.Long()), Zxid(d.Long())
	s.Ctime, s.Mtime = d.Long(), d.Long()
	s.Version, s.Cversion, s.Aversion = d.Int(), d.Int(), d.Int()
	s.EphemeralOwner = SessionID(d.Long())
	s.DataLength, s.NumChildren = d.Int(), d.Int()
	s.Pzxid = Zxid(d.Long())
}

// StatPersistedSize is the length of a StatPersisted.
const StatPersistedSize = 60

// StatPersisted is a node's stat as snapshots have it: the child counter raw, the owner as a kind (section
// 2.5 of the reference: 0, container, TTL or session).
type StatPersisted struct {
	Czxid, Mzxid                Zxid
	Ctime, Mtime                int64
	Version, Cversion, Aversion int32
	EphemeralOwner              int64
	Pzxid                       Zxid
}

// Append adds the 60 bytes.
func (s *StatPersisted) Append(dst []byte) []byte {
	dst = AppendLong(AppendLong(dst, int64(s.Czxid)), int64(s.Mzxid))
	dst = AppendLong(AppendLong(dst, s.Ctime), s.Mtime)
	dst = AppendInt(AppendInt(AppendInt(dst, s.Version), s.Cversion), s.Aversion)
	return AppendLong(AppendLong(dst, s.EphemeralOwner), int64(s.Pzxid))
}

// Decode reads the 60 bytes.
func (s *StatPersisted) Decode(d *Decoder) {
	s.Czxid, s.Mzxid = Zxid(d.Long()), Zxid(d.Long())
	s.Ctime, s.Mtime = d.Long(), d.Long()
	s.Version, s.Cversion, s.Aversion = d.Int(), d.Int(), d.Int()
	s.EphemeralOwner, s.Pzxid = d.Long(), Zxid(d.Long())
}

// DataNode is a node as snapshots have it, after its path. ACL is the key of the snapshot's table, -1 for
// open.
type DataNode struct {
	Data []byte
	ACL  int64
	Stat StatPersisted
}

// Append adds the node.
func (n *DataNode) Append(dst []byte) []byte {
	return n.Stat.Append(AppendLong(AppendBuffer(dst, n.Data), n.ACL))
}

// Decode reads the node.
func (n *DataNode) Decode(d *Decoder) {
	n.Data, n.ACL = d.Buffer(), d.Long()
	n.Stat.Decode(d)
}

// RequestHeader begins every request after the first.
type RequestHeader struct {
	Xid  int32
	Type OpCode
}

// RequestHeaderSize is its length.
const RequestHeaderSize = 8

// Append adds the header.
func (h *RequestHeader) Append(dst []byte) []byte {
	return AppendInt(AppendInt(dst, h.Xid), int32(h.Type))
}

// Decode reads the header.
func (h *RequestHeader) Decode(d *Decoder) { h.Xid, h.Type = d.Int(), OpCode(d.Int()) }

// ReplyHeader begins every reply after the first, and every notification.
type ReplyHeader struct {
	Xid  int32
	Zxid Zxid
	Err  Code
}

// ReplyHeaderSize is its length.
const ReplyHeaderSize = 16

// Append adds the header.
func (h *ReplyHeader) Append(dst []byte) []byte {
	return AppendInt(AppendLong(AppendInt(dst, h.Xid), int64(h.Zxid)), int32(h.Err))
}

// Decode reads the header.
func (h *ReplyHeader) Decode(d *Decoder) {
	h.Xid, h.Zxid, h.Err = d.Int(), Zxid(d.Long()), Code(d.Int())
}

// WatcherEvent is a notification's body.
type WatcherEvent struct {
	Type  EventType
	State int32
	Path  string
}

// Append adds the event.
func (e *WatcherEvent) Append(dst []byte) []byte {
	return AppendString(AppendInt(AppendInt(dst, int32(e.Type)), e.State), e.Path)
}

// Decode reads the event.
func (e *WatcherEvent) Decode(d *Decoder) {
	e.Type, e.State, e.Path = EventType(d.Int()), d.Int(), d.Path()
}

// ConnectRequest is a client's first frame.
type ConnectRequest struct {
	ProtocolVersion int32
	LastZxidSeen    Zxid
	Timeout         int32
	SessionID       SessionID
	Password        []byte
	ReadOnly        bool
	HasReadOnly     bool // old clients do not send that byte, and must not get it
}

// Append adds the request.
func (r *ConnectRequest) Append(dst []byte) []byte {
	dst = AppendInt(AppendLong(AppendInt(dst, r.ProtocolVersion), int64(r.LastZxidSeen)), r.Timeout)
	dst = AppendBuffer(AppendLong(dst, int64(r.SessionID)), r.Password)
	if r.HasReadOnly {
		dst = AppendBool(dst, r.ReadOnly)
	}
	return dst
}

// Decode reads the request; the last byte may be absent.
func (r *ConnectRequest) Decode(d *Decoder) {
	r.ProtocolVersion, r.LastZxidSeen, r.Timeout = d.Int(), Zxid(d.Long()), d.Int()
	r.SessionID, r.Password = SessionID(d.Long()), d.Buffer()
	if r.HasReadOnly = d.Remaining() > 0; r.HasReadOnly {
		r.ReadOnly = d.Bool()
	}
}

// ConnectResponse is a server's first frame. A Timeout of 0 says that the session is no more.
type ConnectResponse struct {
	ProtocolVersion int32
	Timeout         int32
	SessionID       SessionID
	Password        []byte
	ReadOnly        bool
	HasReadOnly     bool // whether the request had the byte
}

// Append adds the response.
func (r *ConnectResponse) Append(dst []byte) []byte {
	dst = AppendInt(AppendInt(dst, r.ProtocolVersion), r.Timeout)
	dst = AppendBuffer(AppendLong(dst, int64(r.SessionID)), r.Password)
	if r.HasReadOnly {
		dst = AppendBool(dst, r.ReadOnly)
	}
	return dst
}

// Decode reads the response; the last byte may be absent.
func (r *ConnectResponse) Decode(d *Decoder) {
	r.ProtocolVersion, r.Timeout = d.Int(), d.Int()
	r.SessionID, r.Password = SessionID(d.Long()), d.Buffer()
	if r.HasReadOnly = d.Remaining() > 0; r.HasReadOnly {
		r.ReadOnly = d.Bool()
	}
}
