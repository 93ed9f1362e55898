package jute

// MultiHeader stands before each operation and result of a multi, and with Done at the end.
type MultiHeader struct {
	Type OpCode
	Done bool
	Err  Code
}

// Append adds the header.
func (h *MultiHeader) Append(dst []byte) []byte {
	return AppendInt(AppendBool(AppendInt(dst, int32(h.Type)), h.Done), int32(h.Err))
}

// Decode reads the header.
func (h *MultiHeader) Decode(d *Decoder) {
	h.Type, h.Done, h.Err = OpCode(d.Int()), d.Bool(), Code(d.Int())
}

// AppendMultiEnd closes a multi, request or reply.
func AppendMultiEnd(dst []byte) []byte {
	return (&MultiHeader{Type: -1, Done: true, Err: -1}).Append(dst)
}

// Op is one operation of a multi.
type Op struct {
	Type OpCode
	Body Record
}

// MultiRequest is several operations that happen together, or several reads (multiRead).
type MultiRequest struct{ Ops []Op }

// Append adds the operations and the end.
func (r *MultiRequest) Append(dst []byte) []byte {
	for _, o := range r.Ops {
		dst = (&MultiHeader{Type: o.Type, Err: -1}).Append(dst)
		dst = o.Body.Append(dst)
	}
	return AppendMultiEnd(dst)
}

// Decode reads operations up to the end. A type that has no place in any multi is malformed.
func (r *MultiRequest) Decode(d *Decoder) {
	r.Ops = nil
	for {
		var h MultiHeader
		h.Decode(d)
		if d.bad || h.Done {
			return
		}
		if !inMulti(h.Type) && !inMultiRead(h.Type) {
			d.Fail()
			return
		}
		body := NewRequest(h.Type)
		body.Decode(d)
		r.Ops = append(r.Ops, Op{h.Type, body})
	}
}

func inMulti(op OpCode) bool {
	switch op {
	case OpCreate, OpCreate2, OpCreateTTL, OpCreateContainer, OpDelete, OpSetData, OpCheck:
		return true
	}
	return false
}

func inMultiRead(op OpCode) bool { return op == OpGetData || op == OpGetChildren }

// fits says whether all operations are of the kind that op holds.
func (r *MultiRequest) fits(op OpCode) bool {
	for _, o := range r.Ops {
		if op == OpMulti && !inMulti(o.Type) || op == OpMultiRead && !inMultiRead(o.Type) {
			return false
		}
	}
	return true
}

// OpResult is one result of a multi. Type is that of the reply: create, create2, delete, setData, check,
// getData, getChildren or error.
type OpResult struct {
	Type     OpCode
	Err      Code
	Path     string
	Stat     Stat
	Data     []byte
	Children []string
}

// Append adds header and body.
func (r *OpResult) Append(dst []byte) []byte {
	dst = (&MultiHeader{Type: r.Type, Err: r.Err}).Append(dst)
	switch r.Type {
	case OpCreate:
		return AppendString(dst, r.Path)
	case OpCreate2:
		return r.Stat.Append(AppendString(dst, r.Path))
	case OpSetData:
		return r.Stat.Append(dst)
	case OpGetData:
		return r.Stat.Append(AppendBuffer(dst, r.Data))
	case OpGetChildren:
		return AppendStrings(dst, r.Children)
	case OpError:
		return AppendInt(dst, int32(r.Err))
	}
	return dst
}

func (r *OpResult) decode(d *Decoder, h MultiHeader) {
	*r = OpResult{Type: h.Type, Err: h.Err}
	switch h.Type {
	case OpCreate:
		r.Path = d.Path()
	case OpCreate2:
		r.Path = d.Path()
		r.Stat.Decode(d)
	case OpSetData:
		r.Stat.Decode(d)
	case OpGetData:
		r.Data = d.Buffer()
		r.Stat.Decode(d)
	case OpGetChildren:
		r.Children = d.Strings()
	case OpError:
		r.Err = Code(d.Int())
	case OpDelete, OpCheck:
	default:
		d.Fail()
	}
}

// MultiResponse is the results, in order.
type MultiResponse struct{ Results []OpResult }

// Append adds the results and the end.
func (r *MultiResponse) Append(dst []byte) []byte {
	for i := range r.Results {
		dst = r.Results[i].Append(dst)
	}
	return AppendMultiEnd(dst)
}

// Decode reads results up to the end.
func (r *MultiResponse) Decode(d *Decoder) {
	r.Results = nil
	for {
		var h MultiHeader
		h.Decode(d)
		if d.bad || h.Done {
			return
		}
		var o OpResult
		o.decode(d, h)
		r.Results = append(r.Results, o)
	}
}
