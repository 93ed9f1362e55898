package ztree

import (
	"slices"

	"github.com/kalda/kalda/internal/format/jute"
)

// Apply does a transaction. It never fails: what cannot be done, which only replay meets, is left out, and
// Code says why. A zxid not above the last one is done too (replay starts below what a fuzzy snapshot
// holds), and moves nothing back.
func (t *Tree) Apply(txn *jute.Txn) *Result {
	t.last = nil
	r := &Result{Header: txn.Header}
	a := applier{t: t, h: &txn.Header, r: r}
	switch body := txn.Body.(type) {
	case *jute.MultiTxn:
		a.multi(body)
	case *jute.CreateSessionTxn:
		t.sessions.change().Set(txn.Header.ClientID, body.Timeout)
	case *jute.CloseSessionTxn:
		a.closeSession(body.Paths)
	case nil:
		a.closeSession(nil)
	case *jute.SetDataTxn:
		a.one(txn.Header.Type, body)
		if txn.Header.Type == jute.OpReconfig {
			r.Data = body.Data
		}
	default:
		a.one(txn.Header.Type, body)
	}
	t.zxid = max(t.zxid, txn.Header.Zxid)
	return r
}

// DropSession deletes a session and its ephemerals without a transaction: those a snapshot left without a
// session.
func (t *Tree) DropSession(id SessionID, zxid Zxid) *Result {
	t.last = nil
	r := &Result{Header: jute.TxnHeader{ClientID: id, Zxid: zxid, Type: jute.OpCloseSession}}
	a := applier{t: t, h: &r.Header, r: r}
	a.closeSession(nil)
	return r
}

// applier applies one transaction. Path, Stat and Code of r are those of the operation at hand.
type applier struct {
	t *Tree
	h *jute.TxnHeader
	r *Result
}

// one does an operation that may stand in a multi too.
func (a *applier) one(op jute.OpCode, body jute.Record) {
	switch b := body.(type) {
	case *jute.CreateTxn:
		owner := int64(0)
		if b.Ephemeral {
			owner = int64(a.h.ClientID)
		}
		a.create(created{b.Path, b.Data, b.ACL, b.ParentCVersion, owner})
	case *jute.CreateContainerTxn:
		a.create(created{b.Path, b.Data, b.ACL, b.ParentCVersion, containerOwner})
	case *jute.CreateTTLTxn:
		owner := int64(0) // whatever else was logged is a plain node
		if a.t.cfg.ExtendedTypes && validTTL(b.TTL) {
			owner = ttlOwner | b.TTL
		}
		a.create(created{b.Path, b.Data, b.ACL, b.ParentCVersion, owner})
	case *jute.DeleteTxn:
		a.delete(b.Path)
	case *jute.SetDataTxn:
		a.setData(b.Path, b.Data, b.Version)
	case *jute.SetACLTxn:
		a.setACL(b)
	case *jute.ErrorTxn:
		a.r.Code = b.Err
	}
}

// multi does all or, when one is an error, nothing.
func (a *applier) multi(m *jute.MultiTxn) {
	failed := slices.ContainsFunc(m.Txns, func(s jute.SubTxn) bool { return s.Type == jute.OpError })
	a.r.Multi = make([]jute.OpResult, 0, len(m.Txns))
	past := false
	for _, s := range m.Txns {
		res := jute.OpResult{Type: s.Type}
		switch {
		case failed:
			res.Type = jute.OpError
			if e, ok := s.Body.(*jute.ErrorTxn); ok {
				res.Err, past = e.Err, true
			} else if past {
				res.Err = jute.RuntimeInconsistency
			}
		default:
			a.r.Code, a.r.Path, a.r.Stat = jute.OK, "", jute.Stat{}
			a.one(s.Type, s.Body)
			res = a.result(s.Type)
		}
		a.r.Multi = append(a.r.Multi, res)
	}
	a.r.Code, a.r.Path, a.r.Stat = jute.OK, "", jute.Stat{}
}

// result is that of the operation just done, as a multi's reply has it.
func (a *applier) result(op jute.OpCode) jute.OpResult {
	if a.r.Code != jute.OK {
		return jute.OpResult{Type: jute.OpError, Err: a.r.Code}
	}
	if op == jute.OpCreateContainer || op == jute.OpCreateTTL {
		op = jute.OpCreate2
	}
	return jute.OpResult{Type: op, Path: a.r.Path, Stat: a.r.Stat}
}

// created is what the three transactions that create have in common.
type created struct {
	path           string
	data           []byte
	acl            []jute.ACL
	parentCVersion int32
	owner          int64
}

func (a *applier) create(c created) {
	t, z := a.t, a.h.Zxid
	if a.r.Path = c.path; !hasParent(c.path) {
		a.r.Code = jute.BadArguments
		return
	}
	parentPath, name := split(c.path)
	parent := lookup(t.root, parentPath)
	if parent == nil || name == "" {
		a.r.Code = jute.NoNode // it was deleted later in the range that the snapshot holds
		return
	}
	cversion := c.parentCVersion
	if cversion == -1 {
		cversion = parent.cversion + 1
	}
	there := parent.child(name)
	// Counters run in a circle, so that the parent of 2^31 children goes on counting.
	if cversion-parent.cversion > 0 {
		parent = t.edit(parentPath, func(n *node) {
			n.cversion, n.pzxid = cversion, max(n.pzxid, z)
		})
	}
	if there != nil {
		a.r.Code = jute.NodeExists
		a.putACL(c.path, c.acl)
		return
	}
	n := &node{
		mark: t.fresh(), czxid: z, mzxid: z, pzxid: z, ctime: a.h.Time, mtime: a.h.Time, owner: c.owner,
		acl: t.acquire(c.acl),
	}
	n.setData(c.data)
	t.insert(c.path, n)
	a.r.Stat = t.statOf(n)
	a.quotaOfNew(c.path, n)
	a.changed(jute.EventNodeCreated, c.path, n, parent)
}

func (t *Tree) statOf(n *node) jute.Stat { return Node{n, &t.kinds}.Stat() }

func (a *applier) changed(e jute.EventType, path string, n, parent *node) {
	c := Change{Type: e, Path: path, ACL: n.acl.list}
	if parent != nil {
		c.ParentACL = parent.acl.list
	}
	a.r.Changes = append(a.r.Changes, c)
}

// putACL gives a node that ACL, and changes nothing else.
func (a *applier) putACL(path string, acl []jute.ACL) {
	t := a.t
	entry := t.acquire(acl)
	n := t.own(path)
	t.release(n.acl)
	n.acl = entry
}

func (a *applier) delete(path string) {
	t := a.t
	if !hasParent(path) || path == "/" {
		a.r.Code = jute.NoNode
		return
	}
	parentPath, name := split(path)
	parent := lookup(t.root, parentPath)
	if parent == nil {
		a.r.Code = jute.NoNode
		return
	}
	if n := parent.child(name); n != nil {
		t.remove(path, n)
		a.quotaOfGone(path, n)
		a.changed(jute.EventNodeDeleted, path, n, parent)
	} else {
		a.r.Code = jute.NoNode
	}
	if parent.pzxid < a.h.Zxid {
		t.edit(parentPath, func(n *node) { n.pzxid = a.h.Zxid })
	}
}

func (a *applier) setData(path string, data []byte, version int32) {
	t := a.t
	old := lookup(t.root, path)
	if old == nil {
		a.r.Code = jute.NoNode
		return
	}
	before := len(old.data)
	n := t.edit(rootless(path), func(n *node) {
		n.setData(data)
		n.mzxid, n.mtime, n.version = a.h.Zxid, a.h.Time, version
	})
	a.r.Stat = t.statOf(n)
	a.quotaOfData(path, int64(len(n.data)-before))
	a.changed(jute.EventNodeDataChanged, path, n, nil)
}

func (a *applier) setACL(b *jute.SetACLTxn) {
	t := a.t
	if lookup(t.root, b.Path) == nil {
		a.r.Code = jute.NoNode
		return
	}
	a.putACL(b.Path, b.ACL)
	n := t.edit(rootless(b.Path), func(n *node) { n.aversion = b.Version })
	a.r.Stat = t.statOf(n)
}

// closeSession deletes what the transaction names, then what else the session owns.
func (a *applier) closeSession(paths []string) {
	id := a.h.ClientID
	a.t.sessions.change().Delete(id)
	for _, p := range paths {
		a.delete(p)
	}
	for _, p := range ephemerals(a.t.owned.m, &a.t.kinds, id, "/") {
		a.delete(p)
	}
	a.r.Code = jute.OK
}
