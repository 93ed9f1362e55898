package ztree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// The nodes of a quota: what clients allow, and what servers count.
const (
	limitName = "zookeeper_limits"
	statName  = "zookeeper_stats"
)

// quota is the text of either: -1 is no limit.
type quota struct {
	count, bytes         int64
	hardCount, hardBytes int64
}

// parseQuota reads "count=N,bytes=M", and hard limits after "=;". What it does not know it skips.
func parseQuota(text string) quota {
	q := quota{-1, -1, -1, -1}
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ';' }) {
		key, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), "="), 10, 64)
		if err != nil {
			continue
		}
		switch strings.TrimSpace(key) {
		case "count":
			q.count = n
		case "bytes":
			q.bytes = n
		case "countHardLimit":
			q.hardCount = n
		case "byteHardLimit":
			q.hardBytes = n
		}
	}
	return q
}

// String is the text.
func (q quota) String() string {
	s := fmt.Sprintf("count=%d,bytes=%d", q.count, q.bytes)
	if q.hardCount > -1 || q.hardBytes > -1 {
		s += fmt.Sprintf("=;byteHardLimit=%d;countHardLimit=%d", q.hardBytes, q.hardCount)
	}
	return s
}

// governing is the longest prefix of the path that has limits: the only one that counts it. "" is none. The
// quota tree itself is the index: most servers have none, and pay one look.
func governing(root *node, path string) string {
	n := lookup(root, quotaPath)
	if n == nil || n.numKids() == 0 {
		return ""
	}
	best, end := "", 0
	for rest := path; rest != "" && rest != "/"; {
		var name string
		name, rest = cutFirst(rest)
		if n = n.child(name); n == nil {
			break
		}
		end += 1 + len(name)
		if n.child(limitName) != nil {
			best = path[:end]
		}
	}
	return best
}

func (a *applier) quotaOfNew(path string, n *node) {
	if of, ok := strings.CutPrefix(path, quotaPath); ok {
		if prefix, ok := strings.CutSuffix(of, "/"+statName); ok {
			a.t.recount(prefix)
		}
	}
	a.t.charge(path, int64(len(n.data)), 1)
}

func (a *applier) quotaOfGone(path string, n *node) { a.t.charge(path, -int64(len(n.data)), -1) }

func (a *applier) quotaOfData(path string, by int64) { a.t.charge(path, by, 0) }

// charge adds to the statistics that the path counts in. They change without version or zxid.
func (t *Tree) charge(path string, bytes, count int64) {
	prefix := governing(t.root, path)
	if prefix == "" {
		return
	}
	at := quotaPath + prefix + "/" + statName
	n := lookup(t.root, at)
	if n == nil {
		return
	}
	q := parseQuota(n.data)
	q.count, q.bytes = q.count+count, q.bytes+bytes
	t.edit(at, func(n *node) { n.setData([]byte(q.String())) })
}

// recount makes the statistics of a prefix anew: itself and all below it.
func (t *Tree) recount(prefix string) {
	at := quotaPath + prefix + "/" + statName
	if lookup(t.root, at) == nil {
		return
	}
	q := quota{0, 0, -1, -1}
	if n := lookup(t.root, prefix); n != nil {
		n.walk(nil, func(_ []byte, n *node) bool {
			q.count++
			q.bytes += int64(len(n.data))
			return true
		})
	}
	t.edit(at, func(n *node) { n.setData([]byte(q.String())) })
}

// recountAll does so for every quota, after a snapshot was loaded.
func (t *Tree) recountAll() {
	q := lookup(t.root, quotaPath)
	if q == nil || q.numKids() == 0 {
		return
	}
	var prefixes []string
	q.walk(nil, func(path []byte, n *node) bool {
		if n.child(limitName) != nil {
			prefixes = append(prefixes, string(path))
		}
		return true
	})
	for _, p := range prefixes {
		t.recount(p)
	}
}

// admits says whether a create or setData keeps the hard limits.
func (p *Planner) admits(path string, bytes, count int64) jute.Code {
	if !p.t.cfg.EnforceQuota {
		return jute.OK
	}
	prefix := governing(p.t.root, path)
	if prefix == "" {
		return jute.OK
	}
	limits := lookup(p.t.root, quotaPath+prefix+"/"+limitName)
	stats := lookup(p.t.root, quotaPath+prefix+"/"+statName)
	if limits == nil || stats == nil {
		return jute.OK
	}
	limit, now := parseQuota(limits.data), parseQuota(stats.data)
	if count != 0 && limit.hardCount > -1 && now.count+count > limit.hardCount {
		return jute.QuotaExceeded
	}
	if bytes != 0 && limit.hardBytes > -1 && now.bytes+bytes > limit.hardBytes {
		return jute.QuotaExceeded
	}
	return jute.OK
}
