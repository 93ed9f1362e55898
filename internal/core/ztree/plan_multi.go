package ztree

import "github.com/kalda/kalda/internal/format/jute"

// planMulti plans all operations, or none: one that fails leaves an error for itself and for all after it,
// and what was planned before it is taken back. The transaction keeps the bodies before the failure, as
// Apache's does; whoever applies it does nothing when it finds an error.
func (p *Planner) planMulti(r *Request, zxid Zxid, now int64) jute.Record {
	m, ok := r.Body.(*jute.MultiRequest)
	if !ok {
		return &jute.MultiTxn{Txns: []jute.SubTxn{}}
	}
	pl := plan{p, r, zxid, now}
	out := make([]jute.SubTxn, 0, len(m.Ops))
	before, failed := p.digest, false
	for _, op := range m.Ops {
		if failed {
			out = append(out, jute.SubTxn{Type: jute.OpError, Body: &jute.ErrorTxn{Err: jute.RuntimeInconsistency}})
			continue
		}
		body, code := pl.one(op.Type, op.Body)
		if code != jute.OK {
			failed = true
			p.rollback(zxid)
			p.digest = before
			out = append(out, jute.SubTxn{Type: jute.OpError, Body: &jute.ErrorTxn{Err: code}})
			continue
		}
		out = append(out, jute.SubTxn{Type: op.Type, Body: body})
	}
	return &jute.MultiTxn{Txns: out}
}
