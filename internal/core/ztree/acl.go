package ztree

import (
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// openKey is the key of the ACL that lets everybody do everything, which stands in no table.
const openKey = -1

// aclEntry is an ACL that any number of nodes share. Only the tree's goroutine looks at refs.
type aclEntry struct {
	key  int64
	list []jute.ACL
	text string // its bytes, which it is found by
	refs int
}

// aclTable shares equal ACLs. Keys are this server's own.
type aclTable struct {
	byText map[string]*aclEntry
	next   int64
	open   *aclEntry
}

func newACLTable() aclTable {
	open := jute.OpenACL()
	return aclTable{
		byText: map[string]*aclEntry{}, next: 1,
		open: &aclEntry{key: openKey, list: open, text: string(jute.AppendACLs(nil, open))},
	}
}

// acquire finds or makes the entry of an ACL. Null is open, as Apache has it.
func (t *Tree) acquire(list []jute.ACL) *aclEntry {
	if list == nil {
		return t.acls.open
	}
	t.scratch = jute.AppendACLs(t.scratch[:0], list)
	if string(t.scratch) == t.acls.open.text {
		return t.acls.open
	}
	e := t.acls.byText[string(t.scratch)]
	if e == nil {
		e = &aclEntry{key: t.acls.next, list: cloneACL(list), text: string(t.scratch)}
		t.acls.next++
		t.acls.byText[e.text] = e
		t.aclKeys.change().Set(e.key, e)
	}
	e.refs++
	return e
}

// release gives an entry back.
func (t *Tree) release(e *aclEntry) {
	if e == nil || e.key == openKey {
		return
	}
	if e.refs--; e.refs == 0 {
		if t.acls.byText[e.text] == e {
			delete(t.acls.byText, e.text)
		}
		t.aclKeys.change().Delete(e.key)
	}
}

func cloneACL(list []jute.ACL) []jute.ACL {
	out := slices.Clone(list)
	for i := range out {
		out[i].ID.Scheme = strings.Clone(out[i].ID.Scheme)
		out[i].ID.ID = strings.Clone(out[i].ID.ID)
	}
	return out
}

// guard decides who may what.
type guard struct {
	skip    bool
	schemes Schemes
}

func newGuard(cfg *Config) guard {
	g := guard{skip: cfg.SkipACL, schemes: cfg.Schemes}
	if g.schemes == nil {
		g.schemes = Builtin{}
	}
	return g
}

// permits says whether ids have any of perms.
func (g *guard) permits(acl []jute.ACL, perms int32, ids []jute.ID) bool {
	if g.skip || len(acl) == 0 {
		return true
	}
	for i := range acl {
		if acl[i].Perms&perms != 0 && acl[i].ID.Scheme == "world" && acl[i].ID.ID == "anyone" {
			return true
		}
	}
	for _, who := range ids {
		if who.Scheme == "super" {
			return true
		}
		for i := range acl {
			e := &acl[i]
			if e.Perms&perms != 0 && e.ID.Scheme == who.Scheme && g.schemes.Matches(who, e.ID) {
				return true
			}
		}
	}
	return false
}

// fix makes the ACL that is stored of the one a client gave: without doubles, "auth" replaced by who the
// client is. nil: it is not valid.
func (g *guard) fix(acl []jute.ACL, ids []jute.ID) []jute.ACL {
	var out []jute.ACL
	for i, e := range acl {
		if slices.Contains(acl[:i], e) {
			continue
		}
		switch {
		case e.ID.Scheme == "world":
			if e.ID.ID != "anyone" {
				return nil
			}
			out = append(out, e)
		case e.ID.Scheme == "auth":
			n := len(out)
			for _, id := range ids {
				if g.schemes.Expands(id.Scheme) {
					out = append(out, jute.ACL{Perms: e.Perms, ID: id})
				}
			}
			if len(out) == n {
				return nil
			}
		case !g.schemes.Valid(e.ID):
			return nil
		default:
			out = append(out, e)
		}
	}
	return out
}

// mask hides what follows the user's name in digest entries.
func mask(acl []jute.ACL) []jute.ACL {
	out := slices.Clone(acl)
	for i := range out {
		if id := &out[i].ID; id.Scheme == "digest" {
			user, _, _ := strings.Cut(id.ID, ":")
			id.ID = user + ":x"
		}
	}
	return out
}

// Builtin are Apache's schemes. The zero value has those that every server has: digest and ip.
type Builtin struct{ NoDigest, X509, SASL bool }

// Valid says whether id is well-formed in an ACL.
func (b Builtin) Valid(id jute.ID) bool {
	switch id.Scheme {
	case "digest":
		user, hash, ok := strings.Cut(id.ID, ":")
		return !b.NoDigest && ok && user != "" && hash != "" && !strings.Contains(hash, ":")
	case "ip":
		_, _, ok := parsePrefix(id.ID)
		return ok
	case "x509":
		return b.X509 && id.ID != ""
	case "sasl":
		return b.SASL && id.ID != ""
	}
	return false
}

// Matches says whether who is whom an entry of the same scheme names.
func (b Builtin) Matches(who, entry jute.ID) bool {
	switch who.Scheme {
	case "ip":
		return matchPrefix(who.ID, entry.ID)
	case "digest":
		return !b.NoDigest && who.ID == entry.ID
	case "x509":
		return b.X509 && who.ID == entry.ID
	case "sasl":
		return b.SASL && who.ID == entry.ID
	}
	return false
}

// Expands says whether identities of that scheme stand in for "auth".
func (b Builtin) Expands(scheme string) bool {
	switch scheme {
	case "digest":
		return !b.NoDigest
	case "x509":
		return b.X509
	case "sasl":
		return b.SASL
	}
	return false
}
