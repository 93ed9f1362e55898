package jute

import "fmt"

// TxnHeader begins a transaction.
type TxnHeader struct {
	ClientID SessionID
	Cxid     int32
	Zxid     Zxid
	Time     int64 // the leader's wall clock, milliseconds
	Type     OpCode
}

// Append adds the header.
func (h *TxnHeader) Append(dst []byte) []byte {
	dst = AppendLong(AppendInt(AppendLong(dst, int64(h.ClientID)), h.Cxid), int64(h.Zxid))
	return AppendInt(AppendLong(dst, h.Time), int32(h.Type))
}

// Decode reads the header.
func (h *TxnHeader) Decode(d *Decoder) {
	h.ClientID, h.Cxid, h.Zxid = SessionID(d.Long()), d.Int(), Zxid(d.Long())
	h.Time, h.Type = d.Long(), OpCode(d.Int())
}

// DigestVersion is the version of the tree digest that 3.9 makes. Another one is not comparable.
const DigestVersion int32 = 2

// TxnDigest is what the tree's digest is after a transaction.
type TxnDigest struct {
	Version int32
	Tree    uint64
}

// Append adds the digest.
func (t *TxnDigest) Append(dst []byte) []byte {
	return AppendLong(AppendInt(dst, t.Version), int64(t.Tree))
}

// Decode reads the digest.
func (t *TxnDigest) Decode(d *Decoder) { t.Version, t.Tree = d.Int(), uint64(d.Long()) }

const digestSize = 12

// CreateSessionTxn makes a session.
type CreateSessionTxn struct{ Timeout int32 }

// Append adds the body.
func (t *CreateSessionTxn) Append(dst []byte) []byte { return AppendInt(dst, t.Timeout) }

// Decode reads the body.
func (t *CreateSessionTxn) Decode(d *Decoder) { t.Timeout = d.Int() }

// CloseSessionTxn ends a session and deletes these paths.
type CloseSessionTxn struct{ Paths []string }

// Append adds the body.
func (t *CloseSessionTxn) Append(dst []byte) []byte { return AppendStrings(dst, t.Paths) }

// Decode reads the body.
func (t *CloseSessionTxn) Decode(d *Decoder) { t.Paths = d.Strings() }

// CreateTxn makes a node: create and create2. Old says that ParentCVersion is not there (ZooKeeper 3.3), and
// is -1.
type CreateTxn struct {
	Path           string
	Data           []byte
	ACL            []ACL
	Ephemeral      bool
	ParentCVersion int32
	Old            bool
}

// Append adds the body.
func (t *CreateTxn) Append(dst []byte) []byte {
	dst = AppendACLs(AppendBuffer(AppendString(dst, t.Path), t.Data), t.ACL)
	if dst = AppendBool(dst, t.Ephemeral); t.Old {
		return dst
	}
	return AppendInt(dst, t.ParentCVersion)
}

// Decode reads the body, of either form when nothing follows it.
func (t *CreateTxn) Decode(d *Decoder) {
	t.Path, t.Data, t.ACL, t.Ephemeral = d.Path(), d.Buffer(), d.ACLs(), d.Bool()
	if t.Old = d.Remaining() == 0 && !d.bad; t.Old {
		t.ParentCVersion = -1
		return
	}
	t.ParentCVersion = d.Int()
}

// CreateTTLTxn makes a node that goes when it was left alone for TTL milliseconds.
type CreateTTLTxn struct {
	Path           string
	Data           []byte
	ACL            []ACL
	ParentCVersion int32
	TTL            int64
}

// Append adds the body.
func (t *CreateTTLTxn) Append(dst []byte) []byte {
	dst = AppendACLs(AppendBuffer(AppendString(dst, t.Path), t.Data), t.ACL)
	return AppendLong(AppendInt(dst, t.ParentCVersion), t.TTL)
}

// Decode reads the body.
func (t *CreateTTLTxn) Decode(d *Decoder) {
	t.Path, t.Data, t.ACL, t.ParentCVersion, t.TTL = d.Path(), d.Buffer(), d.ACLs(), d.Int(), d.Long()
}

// CreateContainerTxn makes a node that goes when its last child went.
type CreateContainerTxn struct {
	Path           string
	Data           []byte
	ACL            []ACL
	ParentCVersion int32
}

// Append adds the body.
func (t *CreateContainerTxn) Append(dst []byte) []byte {
	dst = AppendACLs(AppendBuffer(AppendString(dst, t.Path), t.Data), t.ACL)
	return AppendInt(dst, t.ParentCVersion)
}

// Decode reads the body.
func (t *CreateContainerTxn) Decode(d *Decoder) {
	t.Path, t.Data, t.ACL, t.ParentCVersion = d.Path(), d.Buffer(), d.ACLs(), d.Int()
}

// DeleteTxn deletes a node: delete and deleteContainer.
type DeleteTxn struct{ Path string }

// Append adds the body.
func (t *DeleteTxn) Append(dst []byte) []byte { return AppendString(dst, t.Path) }

// Decode reads the body.
func (t *DeleteTxn) Decode(d *Decoder) { t.Path = d.Path() }

// SetDataTxn changes data; Version is the new one. Also reconfig's.
type SetDataTxn struct {
	Path    string
	Data    []byte
	Version int32
}

// Append adds the body.
func (t *SetDataTxn) Append(dst []byte) []byte {
	return AppendInt(AppendBuffer(AppendString(dst, t.Path), t.Data), t.Version)
}

// Decode reads the body.
func (t *SetDataTxn) Decode(d *Decoder) { t.Path, t.Data, t.Version = d.Path(), d.Buffer(), d.Int() }

// SetACLTxn changes an ACL; Version is the new aversion.
type SetACLTxn struct {
	Path    string
	ACL     []ACL
	Version int32
}

// Append adds the body.
func (t *SetACLTxn) Append(dst []byte) []byte {
	return AppendInt(AppendACLs(AppendString(dst, t.Path), t.ACL), t.Version)
}

// Decode reads the body.
func (t *SetACLTxn) Decode(d *Decoder) { t.Path, t.ACL, t.Version = d.Path(), d.ACLs(), d.Int() }

// CheckVersionTxn is a check within a multi; Version is one more than the node's.
type CheckVersionTxn struct {
	Path    string
	Version int32
}

// Append adds the body.
func (t *CheckVersionTxn) Append(dst []byte) []byte {
	return AppendInt(AppendString(dst, t.Path), t.Version)
}

// Decode reads the body.
func (t *CheckVersionTxn) Decode(d *Decoder) { t.Path, t.Version = d.Path(), d.Int() }

// ErrorTxn is a request that failed, and used a zxid.
type ErrorTxn struct{ Err Code }

// Append adds the body.
func (t *ErrorTxn) Append(dst []byte) []byte { return AppendInt(dst, int32(t.Err)) }

// Decode reads the body.
func (t *ErrorTxn) Decode(d *Decoder) { t.Err = Code(d.Int()) }

// SubTxn is one operation of a MultiTxn.
type SubTxn struct {
	Type OpCode
	Body Record
}

// MultiTxn is several operations under one zxid. When any is an error, none happens.
type MultiTxn struct{ Txns []SubTxn }

// Append adds the body.
func (t *MultiTxn) Append(dst []byte) []byte {
	if t.Txns == nil {
		return AppendNull(dst)
	}
	dst = AppendInt(dst, int32(len(t.Txns)))
	for _, s := range t.Txns {
		dst = AppendInt(AppendInt(dst, int32(s.Type)), 0)
		at := len(dst)
		dst = s.Body.Append(dst)
		putInt(dst[at-4:], int32(len(dst)-at))
	}
	return dst
}

func putInt(b []byte, v int32) { AppendInt(b[:0], v) }

// Decode reads the body.
func (t *MultiTxn) Decode(d *Decoder) {
	n := d.Count(8)
	if n < 0 {
		t.Txns = nil
		return
	}
	t.Txns = make([]SubTxn, 0, n)
	for range n {
		op := OpCode(d.Int())
		body := newTxn(op, true)
		sub := Decoder{buf: d.Buffer(), alias: d.alias}
		if d.bad || body == nil {
			d.Fail()
			return
		}
		if body.Decode(&sub); sub.bad {
			d.Fail()
			return
		}
		t.Txns = append(t.Txns, SubTxn{op, body})
	}
}

// newTxn is an empty body of the type; nil for those that no transaction has.
func newTxn(op OpCode, inMulti bool) Record {
	switch op {
	case OpCreate, OpCreate2:
		return &CreateTxn{}
	case OpCreateTTL:
		return &CreateTTLTxn{}
	case OpCreateContainer:
		return &CreateContainerTxn{}
	case OpDelete, OpDeleteContainer:
		return &DeleteTxn{}
	case OpSetData:
		return &SetDataTxn{}
	case OpSetACL:
		return &SetACLTxn{}
	case OpError:
		return &ErrorTxn{}
	}
	switch {
	case op == OpCheck && inMulti:
		return &CheckVersionTxn{}
	case inMulti:
		return nil
	case op == OpReconfig:
		return &SetDataTxn{}
	case op == OpCreateSession:
		return &CreateSessionTxn{}
	case op == OpCloseSession:
		return &CloseSessionTxn{}
	case op == OpMulti:
		return &MultiTxn{}
	}
	return nil
}

// Txn is a whole transaction, as the log and proposals have it. Body is nil for a closeSession without its
// paths.
type Txn struct {
	Header TxnHeader
	Body   Record
	Digest *TxnDigest // nil when its producer made none
}

// Append adds header, body and digest.
func (t *Txn) Append(dst []byte) []byte {
	dst = t.Header.Append(dst)
	if t.Body != nil {
		dst = t.Body.Append(dst)
	}
	if t.Digest != nil {
		dst = t.Digest.Append(dst)
	}
	return dst
}

// DecodeTxn reads a transaction from exactly b. Data aliases b.
func DecodeTxn(b []byte) (*Txn, error) {
	d := NewDecoder(b, 0)
	t := &Txn{}
	if t.Header.Decode(d); d.bad {
		return nil, fmt.Errorf("transaction header: %w", ErrMalformed)
	}
	body := newTxn(t.Header.Type, false)
	if body == nil {
		return nil, fmt.Errorf("transaction %v of type %v: %w", t.Header.Zxid, t.Header.Type, ErrMalformed)
	}
	start := *d
	if body.Decode(d); d.bad {
		// Writers before 3.6, and later ones when told so, leave out what closeSession deletes.
		if n := start.Remaining(); t.Header.Type != OpCloseSession || n != 0 && n != digestSize {
			return nil, fmt.Errorf("transaction %v, body of %v: %w", t.Header.Zxid, t.Header.Type, ErrMalformed)
		}
		*d, body = start, nil
	}
	t.Body = body
	if d.Remaining() >= digestSize {
		t.Digest = &TxnDigest{}
		t.Digest.Decode(d)
	}
	return t, nil
}
