package jute

// CreateRequest makes a node: create, create2 and createContainer, and createTTL, whose records alone have
// the last field.
type CreateRequest struct {
	Path  string
	Data  []byte
	ACL   []ACL
	Flags int32
}

// Append adds the request.
func (r *CreateRequest) Append(dst []byte) []byte {
	dst = AppendBuffer(AppendString(dst, r.Path), r.Data)
	return AppendInt(AppendACLs(dst, r.ACL), r.Flags)
}

// Decode reads the request.
func (r *CreateRequest) Decode(d *Decoder) {
	r.Path, r.Data, r.ACL, r.Flags = d.Path(), d.Buffer(), d.ACLs(), d.Int()
}

// CreateTTLRequest makes a node that goes when it was left alone for TTL milliseconds.
type CreateTTLRequest struct {
	CreateRequest
	TTL int64
}

// Append adds the request.
func (r *CreateTTLRequest) Append(dst []byte) []byte {
	return AppendLong(r.CreateRequest.Append(dst), r.TTL)
}

// Decode reads the request.
func (r *CreateTTLRequest) Decode(d *Decoder) {
	r.CreateRequest.Decode(d)
	r.TTL = d.Long()
}

// PathVersion names a node and the version it must have (-1: any): delete and check.
type PathVersion struct {
	Path    string
	Version int32
}

// Append adds the request.
func (r *PathVersion) Append(dst []byte) []byte {
	return AppendInt(AppendString(dst, r.Path), r.Version)
}

// Decode reads the request.
func (r *PathVersion) Decode(d *Decoder) { r.Path, r.Version = d.Path(), d.Int() }

// SetDataRequest changes a node's data.
type SetDataRequest struct {
	Path    string
	Data    []byte
	Version int32
}

// Append adds the request.
func (r *SetDataRequest) Append(dst []byte) []byte {
	return AppendInt(AppendBuffer(AppendString(dst, r.Path), r.Data), r.Version)
}

// Decode reads the request.
func (r *SetDataRequest) Decode(d *Decoder) {
	r.Path, r.Data, r.Version = d.Path(), d.Buffer(), d.Int()
}

// SetACLRequest changes a node's ACL.
type SetACLRequest struct {
	Path    string
	ACL     []ACL
	Version int32
}

// Append adds the request.
func (r *SetACLRequest) Append(dst []byte) []byte {
	return AppendInt(AppendACLs(AppendString(dst, r.Path), r.ACL), r.Version)
}

// Decode reads the request.
func (r *SetACLRequest) Decode(d *Decoder) { r.Path, r.ACL, r.Version = d.Path(), d.ACLs(), d.Int() }

// PathWatch names a node and whether to watch it: exists, getData, getChildren, getChildren2.
type PathWatch struct {
	Path  string
	Watch bool
}

// Append adds the request.
func (r *PathWatch) Append(dst []byte) []byte { return AppendBool(AppendString(dst, r.Path), r.Watch) }

// Decode reads the request.
func (r *PathWatch) Decode(d *Decoder) { r.Path, r.Watch = d.Path(), d.Bool() }

// PathOnly is one path: getACL, sync and its reply, getAllChildrenNumber.
type PathOnly struct{ Path string }

// Append adds the path.
func (r *PathOnly) Append(dst []byte) []byte { return AppendString(dst, r.Path) }

// Decode reads the path.
func (r *PathOnly) Decode(d *Decoder) { r.Path = d.Path() }

// GetEphemeralsRequest asks for the session's ephemerals; a null prefix is all.
type GetEphemeralsRequest struct{ Prefix Text }

// Append adds the request.
func (r *GetEphemeralsRequest) Append(dst []byte) []byte { return r.Prefix.Append(dst) }

// Decode reads the request.
func (r *GetEphemeralsRequest) Decode(d *Decoder) { r.Prefix.Decode(d) }

// ReconfigRequest changes the ensemble. The texts may be null.
type ReconfigRequest struct {
	Joining, Leaving, Members Text
	CurConfigID               int64
}

// Append adds the request.
func (r *ReconfigRequest) Append(dst []byte) []byte {
	return AppendLong(r.Members.Append(r.Leaving.Append(r.Joining.Append(dst))), r.CurConfigID)
}

// Decode reads the request.
func (r *ReconfigRequest) Decode(d *Decoder) {
	r.Joining.Decode(d)
	r.Leaving.Decode(d)
	r.Members.Decode(d)
	r.CurConfigID = d.Long()
}

// WatchesRequest names watches: checkWatches and removeWatches.
type WatchesRequest struct {
	Path string
	Type WatcherType
}

// Append adds the request.
func (r *WatchesRequest) Append(dst []byte) []byte {
	return AppendInt(AppendString(dst, r.Path), int32(r.Type))
}

// Decode reads the request.
func (r *WatchesRequest) Decode(d *Decoder) { r.Path, r.Type = d.Path(), WatcherType(d.Int()) }

// AddWatchRequest sets a watch that stays.
type AddWatchRequest struct {
	Path string
	Mode AddWatchMode
}

// Append adds the request.
func (r *AddWatchRequest) Append(dst []byte) []byte {
	return AppendInt(AppendString(dst, r.Path), int32(r.Mode))
}

// Decode reads the request.
func (r *AddWatchRequest) Decode(d *Decoder) { r.Path, r.Mode = d.Path(), AddWatchMode(d.Int()) }

// SetWatches restores a client's watches: setWatches, and setWatches2 with Two.
type SetWatches struct {
	RelativeZxid                    Zxid
	Data, Exist, Child              []string
	Persistent, PersistentRecursive []string
	Two                             bool
}

// Append adds the request.
func (r *SetWatches) Append(dst []byte) []byte {
	dst = AppendStrings(AppendLong(dst, int64(r.RelativeZxid)), r.Data)
	dst = AppendStrings(AppendStrings(dst, r.Exist), r.Child)
	if r.Two {
		dst = AppendStrings(AppendStrings(dst, r.Persistent), r.PersistentRecursive)
	}
	return dst
}

// Decode reads the request; Two says which one it is.
func (r *SetWatches) Decode(d *Decoder) {
	r.RelativeZxid = Zxid(d.Long())
	r.Data, r.Exist, r.Child = d.Strings(), d.Strings(), d.Strings()
	if r.Two {
		r.Persistent, r.PersistentRecursive = d.Strings(), d.Strings()
	}
}

// AuthPacket adds an identity to a connection.
type AuthPacket struct {
	Type   int32
	Scheme string
	Auth   []byte
}

// Append adds the packet.
func (r *AuthPacket) Append(dst []byte) []byte {
	return AppendBuffer(AppendString(AppendInt(dst, r.Type), r.Scheme), r.Auth)
}

// Decode reads the packet.
func (r *AuthPacket) Decode(d *Decoder) { r.Type, r.Scheme, r.Auth = d.Int(), d.String(), d.Buffer() }

// Token is a SASL token, both ways.
type Token struct{ Token []byte }

// Append adds the token.
func (r *Token) Append(dst []byte) []byte { return AppendBuffer(dst, r.Token) }

// Decode reads the token.
func (r *Token) Decode(d *Decoder) { r.Token = d.Buffer() }

// CreateSessionRequest is what a connection request becomes in the pipeline: the same bytes as its
// transaction.
type CreateSessionRequest = CreateSessionTxn

// NewRequest is an empty record of the request's type: nil for those without a body and for the unknown.
func NewRequest(op OpCode) Record {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer:
		return &CreateRequest{}
	case OpCreateTTL:
		return &CreateTTLRequest{}
	case OpDelete, OpCheck:
		return &PathVersion{}
	case OpSetData:
		return &SetDataRequest{}
	case OpSetACL:
		return &SetACLRequest{}
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		return &PathWatch{}
	case OpGetACL, OpSync, OpGetAllChildrenNumber:
		return &PathOnly{}
	case OpGetEphemerals:
		return &GetEphemeralsRequest{}
	case OpReconfig:
		return &ReconfigRequest{}
	case OpCheckWatches, OpRemoveWatches:
		return &WatchesRequest{}
	case OpAddWatch:
		return &AddWatchRequest{}
	case OpSetWatches:
		return &SetWatches{}
	case OpSetWatches2:
		return &SetWatches{Two: true}
	case OpMulti, OpMultiRead:
		return &MultiRequest{}
	case OpAuth:
		return &AuthPacket{}
	case OpSASL:
		return &Token{}
	case OpCreateSession:
		return &CreateSessionRequest{}
	}
	return nil
}

// DecodeRequest reads the body of a request; nil for those without. Bytes after the record are ignored, as
// Apache does. The record aliases what d reads: buffers always, strings with Alias. A write outlives its
// frame: decode it from a copy.
func DecodeRequest(op OpCode, d *Decoder) (Record, error) {
	r := NewRequest(op)
	if r == nil {
		return nil, d.Err()
	}
	r.Decode(d)
	if m, ok := r.(*MultiRequest); ok && !m.fits(op) {
		return nil, ErrMalformed
	}
	return r, d.Err()
}
