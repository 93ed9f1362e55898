package ensemble

import (
	"encoding/binary"
	"strings"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// query is a request that changes nothing.
type query struct {
	xid  int32
	op   jute.OpCode
	body []byte
	auth []jute.ID
	code jute.Code // not OK: the answer, whatever the rest
}

// watching says that the query is about watches, so that it is answered under their lock.
func (q *query) watching() bool {
	switch q.op {
	case jute.OpExists, jute.OpGetData, jute.OpGetChildren, jute.OpGetChildren2:
		if q.code != jute.OK || len(q.body) < 5 {
			return false
		}
		n := int64(int32(binary.BigEndian.Uint32(q.body))) + 4
		return n >= 4 && n < int64(len(q.body)) && q.body[n] != 0
	case jute.OpCheckWatches, jute.OpRemoveWatches, jute.OpSetWatches, jute.OpSetWatches2, jute.OpAddWatch:
		return q.code == jute.OK
	}
	return false
}

// reader decodes queries without an allocation. Strings alias the frame.
type reader struct {
	dec jute.Decoder
	pw  jute.PathWatch
	po  jute.PathOnly
}

// answer adds the reply to a query. The lock of the watches is held if it is about them.
func (s *Server) answer(rd *reader, dst []byte, c *conn, q *query, v *ztree.View) []byte {
	code := q.code
	rd.dec.Reset(q.body)
	rd.dec.Alias(true)
	a := asked{s: s, c: c, q: q, v: v, rd: rd}
	restores := q.op == jute.OpSetWatches || q.op == jute.OpSetWatches2
	if restores {
		dst, code = a.restore(dst)
	}
	at := len(dst)
	xid := q.xid
	if q.op == jute.OpPing {
		xid = jute.XidPing // whatever the client sent
	}
	dst = beginReply(dst, xid, v.Zxid(), code)
	if code == jute.OK && !restores {
		if dst, code = a.answer(dst); code != jute.OK {
			dst = beginReply(dst[:at], xid, v.Zxid(), code)
		}
	}
	return endFrame(dst, at)
}

// asked is a query being answered.
type asked struct {
	s  *Server
	c  *conn
	q  *query
	v  *ztree.View
	rd *reader
}

func (a *asked) answer(dst []byte) ([]byte, jute.Code) {
	switch a.q.op {
	case jute.OpPing:
		return dst, jute.OK
	case jute.OpExists, jute.OpGetData, jute.OpGetChildren, jute.OpGetChildren2:
		return a.node(dst)
	case jute.OpGetACL, jute.OpSync, jute.OpGetAllChildrenNumber:
		return a.path(dst)
	case jute.OpMultiRead:
		return a.multi(dst)
	case jute.OpGetEphemerals:
		var r jute.GetEphemeralsRequest
		if r.Decode(&a.rd.dec); a.rd.dec.Err() != nil {
			return dst, jute.MarshallingError
		}
		return jute.AppendStrings(dst, a.v.Ephemerals(a.c.session, r.Prefix.S)), jute.OK
	case jute.OpWhoAmI:
		return a.whoAmI(dst), jute.OK
	}
	return a.watches(dst)
}

// node answers the four queries that may set a watch.
func (a *asked) node(dst []byte) ([]byte, jute.Code) {
	r := &a.rd.pw
	if r.Decode(&a.rd.dec); a.rd.dec.Err() != nil {
		return dst, jute.MarshallingError
	}
	if r.Watch && a.full(1) {
		return dst, jute.QuotaExceeded
	}
	n, code := a.v.Read(r.Path, a.q.auth)
	kind := ztree.WatchChild
	switch a.q.op {
	case jute.OpExists:
		if kind = ztree.WatchData; code == jute.OK {
			dst = n.AppendStat(dst)
		}
	case jute.OpGetData:
		if kind = ztree.WatchData; code == jute.OK {
			dst = n.AppendStat(n.AppendData(dst))
		}
	case jute.OpGetChildren:
		if code == jute.OK {
			dst = n.AppendChildren(dst)
		}
	case jute.OpGetChildren2:
		if code == jute.OK {
			dst = n.AppendStat(n.AppendChildren(dst))
		}
	}
	if r.Watch && (code == jute.OK || code == jute.NoNode && a.q.op == jute.OpExists) {
		a.add(r.Path, kind)
	}
	return dst, code
}

// full says that n more watches are too many.
func (a *asked) full(n int) bool {
	limit := a.s.opts.maxWatches
	return limit > 0 && a.s.watches.CountOf(ztree.WatcherID(a.c.id))+n > limit
}

func (a *asked) add(path string, kind ztree.Kind) {
	if !a.c.gone {
		a.s.watches.Add(ztree.WatcherID(a.c.id), path, kind)
	}
}

// path answers what is about a path alone.
func (a *asked) path(dst []byte) ([]byte, jute.Code) {
	r := &a.rd.po
	if r.Decode(&a.rd.dec); a.rd.dec.Err() != nil {
		return dst, jute.MarshallingError
	}
	switch a.q.op {
	case jute.OpGetACL:
		acl, stat, code := a.v.ReadACL(r.Path, a.q.auth)
		if code != jute.OK {
			return dst, code
		}
		return stat.Append(jute.AppendACLs(dst, acl)), jute.OK
	case jute.OpGetAllChildrenNumber:
		n, code := a.v.Descendants(r.Path, a.q.auth)
		return jute.AppendInt(dst, n), code
	}
	return jute.AppendString(dst, r.Path), jute.OK
}

// multi answers each read on its own.
func (a *asked) multi(dst []byte) ([]byte, jute.Code) {
	record, err := jute.DecodeRequest(jute.OpMultiRead, &a.rd.dec)
	if err != nil {
		return dst, jute.MarshallingError
	}
	for _, o := range record.(*jute.MultiRequest).Ops {
		res := jute.OpResult{Type: jute.OpError}
		n, code := a.v.Read(o.Body.(*jute.PathWatch).Path, a.q.auth)
		switch {
		case code != jute.OK:
			res.Err = code
		case o.Type == jute.OpGetData:
			res = jute.OpResult{Type: o.Type, Data: n.Data(), Stat: n.Stat()}
		default:
			res = jute.OpResult{Type: o.Type, Children: []string{}}
			for name := range n.Children() {
				res.Children = append(res.Children, name)
			}
		}
		dst = res.Append(dst)
	}
	return jute.AppendMultiEnd(dst), jute.OK
}

// whoAmI tells the identities; of digest ones, the user alone.
func (a *asked) whoAmI(dst []byte) []byte {
	var r jute.WhoAmIResponse
	for _, id := range a.q.auth {
		user := id.ID
		if id.Scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		r.Clients = append(r.Clients, jute.ClientInfo{Scheme: id.Scheme, User: user})
	}
	return r.Append(dst)
}

// watches answers what is about watches alone.
func (a *asked) watches(dst []byte) ([]byte, jute.Code) {
	record, err := jute.DecodeRequest(a.q.op, &a.rd.dec)
	if err != nil {
		return dst, jute.MarshallingError
	}
	id := ztree.WatcherID(a.c.id)
	switch r := record.(type) {
	case *jute.WatchesRequest:
		if a.q.op == jute.OpRemoveWatches {
			return dst, a.s.watches.Remove(id, r.Path, r.Type)
		}
		return dst, a.s.watches.Check(id, r.Path, r.Type)
	case *jute.AddWatchRequest:
		kind := ztree.WatchPersistent
		switch r.Mode {
		case jute.AddPersistent:
		case jute.AddPersistentRecursive:
			kind = ztree.WatchRecursive
		default:
			return dst, jute.MarshallingError
		}
		if a.full(1) {
			return dst, jute.QuotaExceeded
		}
		a.add(r.Path, kind)
		return jute.AppendInt(dst, 0), jute.OK
	}
	return dst, jute.Unimplemented
}

// restore is setWatches: it adds the events of what was missed, as frames of their own.
func (a *asked) restore(dst []byte) ([]byte, jute.Code) {
	r := jute.SetWatches{Two: a.q.op == jute.OpSetWatches2}
	if r.Decode(&a.rd.dec); a.rd.dec.Err() != nil {
		return dst, jute.MarshallingError
	}
	if a.full(len(r.Data) + len(r.Exist) + len(r.Child) + len(r.Persistent) + len(r.PersistentRecursive)) {
		return dst, jute.QuotaExceeded
	}
	if a.c.gone {
		return dst, jute.OK
	}
	for _, e := range a.s.watches.Restore(ztree.WatcherID(a.c.id), a.v, &r, a.q.auth) {
		at := len(dst)
		dst = endFrame(e.Append(beginReply(dst, jute.XidNotification, -1, jute.OK)), at)
	}
	return dst, jute.OK
}
