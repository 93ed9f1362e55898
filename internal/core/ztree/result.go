package ztree

import "github.com/kalda/kalda/internal/format/jute"

// Response adds a successful reply's body (after the header with Code; nothing when that is not OK). A
// session's creation is answered by the driver, as only it knows the connection.
func (r *Result) Response(dst []byte) []byte {
	if r.Code != jute.OK {
		return dst
	}
	switch r.Header.Type {
	case jute.OpCreate:
		return jute.AppendString(dst, r.Path)
	case jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		return r.Stat.Append(jute.AppendString(dst, r.Path))
	case jute.OpSetData, jute.OpSetACL:
		return r.Stat.Append(dst)
	case jute.OpReconfig:
		return r.Stat.Append(jute.AppendBuffer(dst, r.Data))
	case jute.OpMulti:
		for i := range r.Multi {
			dst = r.Multi[i].Append(dst)
		}
		return jute.AppendMultiEnd(dst)
	}
	return dst
}

// Moved says that a multi failed because the session moved: the connection is closed without an answer.
func (r *Result) Moved() bool {
	if r.Code == jute.SessionMoved {
		return true
	}
	for i := range r.Multi {
		if r.Multi[i].Err == jute.SessionMoved {
			return true
		}
	}
	return false
}
