package jute

// StatResponse is a stat alone: exists, setData, setACL.
type StatResponse struct{ Stat Stat }

// Append adds the stat.
func (r *StatResponse) Append(dst []byte) []byte { return r.Stat.Append(dst) }

// Decode reads the stat.
func (r *StatResponse) Decode(d *Decoder) { r.Stat.Decode(d) }

// GetDataResponse answers getData and reconfig.
type GetDataResponse struct {
	Data []byte
	Stat Stat
}

// Append adds the reply.
func (r *GetDataResponse) Append(dst []byte) []byte { return r.Stat.Append(AppendBuffer(dst, r.Data)) }

// Decode reads the reply.
func (r *GetDataResponse) Decode(d *Decoder) {
	r.Data = d.Buffer()
	r.Stat.Decode(d)
}

// GetACLResponse answers getACL.
type GetACLResponse struct {
	ACL  []ACL
	Stat Stat
}

// Append adds the reply.
func (r *GetACLResponse) Append(dst []byte) []byte { return r.Stat.Append(AppendACLs(dst, r.ACL)) }

// Decode reads the reply.
func (r *GetACLResponse) Decode(d *Decoder) {
	r.ACL = d.ACLs()
	r.Stat.Decode(d)
}

// StringsResponse is names or paths: getChildren and getEphemerals.
type StringsResponse struct{ Names []string }

// Append adds the reply.
func (r *StringsResponse) Append(dst []byte) []byte { return AppendStrings(dst, r.Names) }

// Decode reads the reply.
func (r *StringsResponse) Decode(d *Decoder) { r.Names = d.Strings() }

// GetChildren2Response answers getChildren2.
type GetChildren2Response struct {
	Children []string
	Stat     Stat
}

// Append adds the reply.
func (r *GetChildren2Response) Append(dst []byte) []byte {
	return r.Stat.Append(AppendStrings(dst, r.Children))
}

// Decode reads the reply.
func (r *GetChildren2Response) Decode(d *Decoder) {
	r.Children = d.Strings()
	r.Stat.Decode(d)
}

// Create2Response answers create2, createContainer and createTTL; create has the path alone (PathOnly).
type Create2Response struct {
	Path string
	Stat Stat
}

// Append adds the reply.
func (r *Create2Response) Append(dst []byte) []byte { return r.Stat.Append(AppendString(dst, r.Path)) }

// Decode reads the reply.
func (r *Create2Response) Decode(d *Decoder) {
	r.Path = d.Path()
	r.Stat.Decode(d)
}

// IntResponse is one number: getAllChildrenNumber, and addWatch's reply (0).
type IntResponse struct{ N int32 }

// Append adds the number.
func (r *IntResponse) Append(dst []byte) []byte { return AppendInt(dst, r.N) }

// Decode reads the number.
func (r *IntResponse) Decode(d *Decoder) { r.N = d.Int() }

// ClientInfo is one identity as whoAmI tells it.
type ClientInfo struct{ Scheme, User string }

// WhoAmIResponse lists a connection's identities.
type WhoAmIResponse struct{ Clients []ClientInfo }

// Append adds the reply.
func (r *WhoAmIResponse) Append(dst []byte) []byte {
	if r.Clients == nil {
		return AppendNull(dst)
	}
	dst = AppendInt(dst, int32(len(r.Clients)))
	for _, c := range r.Clients {
		dst = AppendString(AppendString(dst, c.Scheme), c.User)
	}
	return dst
}

// Decode reads the reply.
func (r *WhoAmIResponse) Decode(d *Decoder) {
	n := d.Count(8)
	if n < 0 {
		r.Clients = nil
		return
	}
	r.Clients = make([]ClientInfo, n)
	for i := range r.Clients {
		r.Clients[i] = ClientInfo{d.String(), d.String()}
	}
}

// NewResponse is an empty record of a successful reply's type; nil for those without a body and for the
// unknown.
func NewResponse(op OpCode) Record {
	switch op {
	case OpCreate, OpSync:
		return &PathOnly{}
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		return &Create2Response{}
	case OpExists, OpSetData, OpSetACL:
		return &StatResponse{}
	case OpGetData, OpReconfig:
		return &GetDataResponse{}
	case OpGetACL:
		return &GetACLResponse{}
	case OpGetChildren, OpGetEphemerals:
		return &StringsResponse{}
	case OpGetChildren2:
		return &GetChildren2Response{}
	case OpMulti, OpMultiRead:
		return &MultiResponse{}
	case OpGetAllChildrenNumber, OpAddWatch:
		return &IntResponse{}
	case OpWhoAmI:
		return &WhoAmIResponse{}
	case OpSASL:
		return &Token{}
	case OpNotification:
		return &WatcherEvent{}
	}
	return nil
}
