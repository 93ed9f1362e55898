package ztree

import (
	"slices"

	"github.com/kalda/kalda/internal/format/jute"
)

// Planner makes transactions of requests, against the tree overlaid with what was planned and is not applied
// yet. It belongs to the tree's goroutine.
type Planner struct {
	t *Tree
	s *Sessions

	newest map[string]*record // by path ("" is the root): what the path will be
	queue  []*record          // all that is not applied, in order
	digest uint64             // of the tree when all of queue is applied
}

// record is what one operation will make of a path. kids is how many children it will have.
type record struct {
	zxid  Zxid
	path  string
	n     *node // nil: deleted
	kids  int
	older *record // that it stands in front of, if that is not applied yet
}

// NewPlanner plans for t; s may be changed by the driver too.
func NewPlanner(t *Tree, s *Sessions) *Planner {
	return &Planner{t: t, s: s, newest: map[string]*record{}, digest: t.digest}
}

// Pending is how many changes are planned and not applied.
func (p *Planner) Pending() int { return len(p.queue) }

// Prep makes the transaction of a request, an error's too: it uses the zxid in any case. Data in it aliases
// the request's. now is the wall clock in ms, monotonic where it can be.
func (p *Planner) Prep(r *Request, zxid Zxid, now int64) *jute.Txn {
	if len(p.queue) == 0 {
		p.digest = p.t.digest // whatever changed the tree without a transaction is in there too
	}
	txn := &jute.Txn{}
	txn.Header = jute.TxnHeader{ClientID: r.Session, Cxid: r.Cxid, Zxid: zxid, Time: now, Type: r.Op}
	var code jute.Code
	switch r.Op {
	case jute.OpMulti:
		txn.Body = p.planMulti(r, zxid, now)
	default:
		pl := plan{p, r, zxid, now}
		if txn.Body, code = pl.one(r.Op, r.Body); code != jute.OK {
			txn.Header.Type, txn.Body = jute.OpError, &jute.ErrorTxn{Err: code}
		}
	}
	if p.t.cfg.Digest && txn.Header.Type != jute.OpError {
		txn.Digest = &jute.TxnDigest{Version: jute.DigestVersion, Tree: p.digest}
	}
	return txn
}

// Fail makes the transaction of a request that fails for a reason of the driver's (what it could not decode).
func (p *Planner) Fail(r *Request, code jute.Code, zxid Zxid, now int64) *jute.Txn {
	q := *r
	q.Op, q.Body = jute.OpError, &jute.ErrorTxn{Err: code}
	return p.Prep(&q, zxid, now)
}

// Applied forgets what was planned up to zxid, after Apply.
func (p *Planner) Applied(zxid Zxid) {
	n := 0
	for ; n < len(p.queue) && p.queue[n].zxid <= zxid; n++ {
		rec := p.queue[n]
		if p.newest[rec.path] == rec {
			delete(p.newest, rec.path)
		}
		rec.older = nil // which was applied before it: else a busy path would keep its whole history
		p.queue[n] = nil
	}
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
}

// Reset forgets all that was planned (leadership lost).
func (p *Planner) Reset() {
	clear(p.newest)
	p.queue, p.digest = nil, p.t.digest
}

// head is what a path will be when all planned is applied: nil when it will not be there.
func (p *Planner) head(path string) (*node, int) {
	path = rootless(path)
	if rec := p.newest[path]; rec != nil {
		return rec.n, rec.kids
	}
	n := lookup(p.t.root, path)
	if n == nil {
		return nil, 0
	}
	return n, n.numKids()
}

// put plans what a path will be; nil: not there.
func (p *Planner) put(zxid Zxid, path string, n *node, kids int) {
	path = rootless(path)
	if p.t.cfg.Digest {
		if old, _ := p.head(path); old != nil {
			p.digest -= p.t.hash(path, old)
		}
		if n != nil {
			p.digest += p.t.hash(path, n)
		}
	}
	rec := &record{zxid, path, n, kids, p.newest[path]}
	p.newest[path] = rec
	p.queue = append(p.queue, rec)
}

// rollback takes back all that was planned under zxid, the last one.
func (p *Planner) rollback(zxid Zxid) {
	for i := len(p.queue) - 1; i >= 0 && p.queue[i].zxid == zxid; i-- {
		rec := p.queue[i]
		if p.newest[rec.path] = rec.older; rec.older == nil {
			delete(p.newest, rec.path)
		}
		p.queue[i] = nil
		p.queue = p.queue[:i]
	}
}

// plan is one request being planned.
type plan struct {
	p    *Planner
	r    *Request
	zxid Zxid
	now  int64
}

// one plans an operation, alone or in a multi. Nothing was planned when the code is not OK.
func (pl *plan) one(op jute.OpCode, body jute.Record) (jute.Record, jute.Code) {
	switch b := body.(type) {
	case *jute.CreateRequest:
		return pl.create(op, b, -1)
	case *jute.CreateTTLRequest:
		return pl.create(op, &b.CreateRequest, b.TTL)
	case *jute.PathVersion:
		if op == jute.OpCheck {
			return pl.check(b)
		}
		return pl.delete(b)
	case *jute.SetDataRequest:
		return pl.setData(b)
	case *jute.SetACLRequest:
		return pl.setACL(b)
	case *jute.ReconfigRequest:
		return pl.reconfig()
	case *jute.PathOnly:
		return pl.deleteContainer(b.Path)
	case *jute.CreateSessionTxn:
		if !pl.p.s.Has(pl.r.Session) { // else the driver added it, by a clock of its own
			pl.p.s.Add(pl.r.Session, b.Timeout, pl.r.Owner, pl.now)
		}
		return b, jute.OK
	case *jute.ErrorTxn:
		return b, jute.OK
	}
	if op == jute.OpCloseSession {
		return pl.closeSession(), jute.OK
	}
	return nil, jute.Unimplemented
}

// session is the check that comes first. What a server asks for itself has no session.
func (pl *plan) session() jute.Code {
	if pl.r.Owner == 0 {
		return jute.OK
	}
	return pl.p.s.Check(pl.r.Session, pl.r.Owner)
}

func (pl *plan) may(n *node, perm int32) bool {
	return pl.p.t.guard.permits(n.acl.list, perm, pl.r.Auth)
}

// version checks a counter against what the client expects, and gives the next one. -1 expects nothing, so
// no counter ever is -1.
func version(now, expected int32) (int32, bool) {
	if expected != -1 && expected != now {
		return 0, false
	}
	if now++; now == -1 {
		now = 0
	}
	return now, true
}

func (pl *plan) delete(b *jute.PathVersion) (jute.Record, jute.Code) {
	if code := pl.session(); code != jute.OK {
		return nil, code
	}
	if !hasParent(b.Path) || slices.Contains([]string{"/", systemPath, quotaPath, configPath}, b.Path) {
		return nil, jute.BadArguments
	}
	parentPath, _ := split(b.Path)
	parent, kids := pl.p.head(parentPath)
	if parent == nil {
		return nil, jute.NoNode
	}
	if !pl.may(parent, jute.PermDelete) {
		return nil, jute.NoAuth
	}
	n, below := pl.p.head(b.Path)
	switch {
	case n == nil:
		return nil, jute.NoNode
	case b.Version != -1 && b.Version != n.version:
		return nil, jute.BadVersion
	case below > 0:
		return nil, jute.NotEmpty
	}
	pl.gone(parentPath, parent, kids)
	pl.p.put(pl.zxid, b.Path, nil, 0)
	return &jute.DeleteTxn{Path: b.Path}, jute.OK
}

// gone plans what a deletion does to the parent.
func (pl *plan) gone(path string, parent *node, kids int) {
	c := *parent
	c.pzxid = max(c.pzxid, pl.zxid)
	pl.p.put(pl.zxid, path, &c, kids-1)
}

func (pl *plan) deleteContainer(path string) (jute.Record, jute.Code) {
	if pl.r.Op != jute.OpDeleteContainer || pl.r.Owner != 0 {
		return nil, jute.Unimplemented
	}
	if !hasParent(path) || path == "/" {
		return nil, jute.BadArguments
	}
	n, below := pl.p.head(path)
	switch {
	case n == nil:
		return nil, jute.NoNode
	case below > 0:
		return nil, jute.NotEmpty
	case !pl.p.t.kinds.reapable(n.owner):
		return nil, jute.BadVersion
	}
	parentPath, _ := split(path)
	parent, kids := pl.p.head(parentPath)
	pl.gone(parentPath, parent, kids)
	pl.p.put(pl.zxid, path, nil, 0)
	return &jute.DeleteTxn{Path: path}, jute.OK
}

func (pl *plan) setData(b *jute.SetDataRequest) (jute.Record, jute.Code) {
	if code := pl.session(); code != jute.OK {
		return nil, code
	}
	if !CheckPath(b.Path) {
		return nil, jute.BadArguments
	}
	n, kids := pl.p.head(b.Path)
	if n == nil {
		return nil, jute.NoNode
	}
	if !pl.may(n, jute.PermWrite) {
		return nil, jute.NoAuth
	}
	if code := pl.p.admits(b.Path, int64(len(b.Data)-len(n.data)), 0); code != jute.OK {
		return nil, code
	}
	next, ok := version(n.version, b.Version)
	if !ok {
		return nil, jute.BadVersion
	}
	c := *n
	c.setData(b.Data)
	c.version, c.mzxid, c.mtime = next, pl.zxid, pl.now
	pl.p.put(pl.zxid, b.Path, &c, kids)
	return &jute.SetDataTxn{Path: b.Path, Data: b.Data, Version: next}, jute.OK
}

func (pl *plan) setACL(b *jute.SetACLRequest) (jute.Record, jute.Code) {
	if code := pl.session(); code != jute.OK {
		return nil, code
	}
	if !CheckPath(b.Path) {
		return nil, jute.BadArguments
	}
	acl := pl.p.t.guard.fix(b.ACL, pl.r.Auth)
	if len(acl) == 0 {
		return nil, jute.InvalidACL
	}
	n, kids := pl.p.head(b.Path)
	if n == nil {
		return nil, jute.NoNode
	}
	if !pl.may(n, jute.PermAdmin) {
		return nil, jute.NoAuth
	}
	next, ok := version(n.aversion, b.Version)
	if !ok {
		return nil, jute.BadVersion
	}
	c := *n
	c.acl, c.aversion = &aclEntry{list: acl}, next
	pl.p.put(pl.zxid, b.Path, &c, kids)
	return &jute.SetACLTxn{Path: b.Path, ACL: acl, Version: next}, jute.OK
}

func (pl *plan) check(b *jute.PathVersion) (jute.Record, jute.Code) {
	if pl.r.Op != jute.OpMulti {
		return nil, jute.Unimplemented
	}
	if code := pl.session(); code != jute.OK {
		return nil, code
	}
	n, _ := pl.p.head(b.Path)
	if n == nil {
		return nil, jute.NoNode
	}
	if !pl.may(n, jute.PermRead) {
		return nil, jute.NoAuth
	}
	next, ok := version(n.version, b.Version)
	if !ok {
		return nil, jute.BadVersion
	}
	return &jute.CheckVersionTxn{Path: b.Path, Version: next}, jute.OK
}

// reconfig has no ensemble to change here: the ensemble's driver decides it before it gets to the planner.
func (pl *plan) reconfig() (jute.Record, jute.Code) {
	if !pl.p.t.cfg.ReconfigEnabled {
		return nil, jute.ReconfigDisabled
	}
	if code := pl.session(); code != jute.OK {
		return nil, code
	}
	return nil, jute.Unimplemented
}
