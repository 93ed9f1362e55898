package ztree

import "github.com/kalda/kalda/internal/format/jute"

// closeSession names what the session will own by then: what it owns, but what is about to be deleted, and
// what is about to be created.
func (pl *plan) closeSession() jute.Record {
	p, id := pl.p, pl.r.Session
	p.s.Close(id)
	paths := []string{}
	for _, path := range ephemerals(p.t.owned.m, &p.t.kinds, id, "/") {
		if _, pending := p.newest[path]; !pending {
			paths = append(paths, path)
		}
	}
	for _, rec := range p.queue {
		if p.newest[rec.path] == rec && rec.n != nil && p.t.kinds.session(rec.n.owner) == id {
			paths = append(paths, rec.path)
		}
	}
	for _, path := range paths {
		parentPath, _ := split(path)
		parent, kids := p.head(parentPath)
		pl.gone(parentPath, parent, kids)
		p.put(pl.zxid, path, nil, 0)
	}
	if p.t.cfg.OmitClosePaths {
		return nil
	}
	return &jute.CloseSessionTxn{Paths: paths}
}
