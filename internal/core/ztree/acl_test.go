package ztree

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestPrefixes: addresses and prefixes of both families, section 2.7.
func TestPrefixes(t *testing.T) {
	for _, c := range []struct {
		address, prefix string
		valid, matches  bool
	}{
		{"10.1.2.3", "10.1.2.3", true, true},
		{"10.1.2.3", "10.1.2.4", true, false},
		{"10.1.2.3", "10.0.0.0/8", true, true},
		{"10.1.2.3", "10.1.3.0/23", true, true},
		{"10.1.4.3", "10.1.3.0/23", true, false},
		{"10.1.2.3", "0.0.0.0/0", true, true},
		{"10.1.2.3", "10.1.2.3/33", false, false},
		{"10.1.2.3", "10.1.2.3/-1", false, false},
		{"10.1.2.3", "10.1.2.3/x", false, false},
		{"10.1.2.3", "10.1.2", false, false},
		{"10.1.2.3", "10.1.2.256", false, false},
		{"10.1.2.3", "10.1.2.+3", false, false},
		{"10.1.2.3", "10.1.2.", false, false},
		{"10.1.2.3", "", false, false},
		{"10.1.2.3", "::/0", true, false},
		{"odd", "0.0.0.0/0", true, false},
		{"::1", "::1", true, true},
		{"::1", "::/127", true, true},
		{"::2", "::/127", true, false},
		{"::1", "::1/129", false, false},
		{"fe80::1%eth0", "fe80::/10", true, true},
		{"2001:db8::5", "2001:db8:0:0:0:0:0:5", true, true},
		{"2001:db8::5", "2001:db8::/32", true, true},
		{"2001:db9::5", "2001:db8::/32", true, false},
		{"::ffff:10.0.0.1", "::ffff:a00:1", true, true},
		{"::1", "1:2:3:4:5:6:7", false, false},
		{"::1", "1:2:3:4:5:6:7:8:9", false, false},
		{"::1", "1::2::3", false, false},
		{"::1", "12345::", false, false},
		{"::1", "g::", false, false},
		{"::1", "::g", false, false},
		{"::1", "::1.2.3", false, false},
		{"::1", "1.2.3.4::", false, false},
		{"::1", "1:2:3:4:5:6:7::8", false, false},
		{"::1", "1:2:3:4:5:6:7:8::", false, false},
		{"::1", "1:2:3:4:5:6:7:1.2.3.4", false, false},
	} {
		b := Builtin{}
		entry := jute.ID{Scheme: "ip", ID: c.prefix}
		if b.Valid(entry) != c.valid || b.Matches(jute.ID{Scheme: "ip", ID: c.address}, entry) != c.matches {
			t.Errorf("%s in %s: valid %v, matches %v", c.address, c.prefix, b.Valid(entry), !c.matches)
		}
	}
}

// TestSchemes: those that are switched off are unknown; world, auth and super are nobody's to add.
func TestSchemes(t *testing.T) {
	all, none := Builtin{X509: true, SASL: true}, Builtin{NoDigest: true}
	for _, c := range []struct {
		id             string
		scheme         string
		all, none, exp bool
	}{
		{"u:h", "digest", true, false, true},
		{":h", "digest", false, false, true},
		{"u:", "digest", false, false, true},
		{"u", "digest", false, false, true},
		{"u:h:x", "digest", false, false, true},
		{"CN=x", "x509", true, false, true},
		{"", "x509", false, false, true},
		{"kafka", "sasl", true, false, true},
		{"", "sasl", false, false, true},
		{"", "super", false, false, false},
		{"x", "nobody", false, false, false},
		{"127.0.0.1", "ip", true, true, false},
	} {
		id := jute.ID{Scheme: c.scheme, ID: c.id}
		if all.Valid(id) != c.all || none.Valid(id) != c.none || all.Expands(c.scheme) != c.exp || none.Expands(c.scheme) {
			t.Errorf("%+v: %v %v %v", id, all.Valid(id), none.Valid(id), all.Expands(c.scheme))
		}
		if c.all && (!all.Matches(id, id) || all.Matches(id, jute.ID{Scheme: c.scheme, ID: "9"}) || none.Matches(id, id) != c.none) {
			t.Errorf("%+v doesn't match itself, or matches another", id)
		}
	}
}

// TestPermits: who may what.
func TestPermits(t *testing.T) {
	acl := []jute.ACL{
		{Perms: jute.PermRead, ID: jute.ID{Scheme: "world", ID: "anyone"}},
		{Perms: jute.PermWrite, ID: jute.ID{Scheme: "digest", ID: "u:h"}},
	}
	u, root, ip := jute.ID{Scheme: "digest", ID: "u:h"}, jute.ID{Scheme: "super"}, jute.ID{Scheme: "ip", ID: "127.0.0.1"}
	for _, c := range []struct {
		skip  bool
		acl   []jute.ACL
		perms int32
		ids   []jute.ID
		want  bool
	}{
		{false, acl, jute.PermRead, nil, true},
		{false, acl, jute.PermWrite, []jute.ID{ip}, false},
		{false, acl, jute.PermWrite, []jute.ID{ip, u}, true},
		{false, acl, jute.PermAdmin, []jute.ID{ip, u}, false},
		{false, acl, jute.PermAdmin | jute.PermRead, []jute.ID{ip}, true},
		{false, acl, jute.PermAdmin, []jute.ID{ip, root}, true},
		{true, acl, jute.PermAdmin, nil, true},
		{false, nil, jute.PermAdmin, nil, true},
	} {
		v := New(Config{SkipACL: c.skip}).View()
		if got := v.Permits(c.acl, c.perms, c.ids); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestFix: what is stored of an access list that a client sends.
func TestFix(t *testing.T) {
	id := func(scheme, id string) jute.ID { return jute.ID{Scheme: scheme, ID: id} }
	ids := []jute.ID{id("ip", "127.0.0.1"), id("digest", "u:h"), id("digest", "v:h")}
	g := newGuard(&Config{})
	for _, c := range []struct {
		acl, want []jute.ACL
		ids       []jute.ID
	}{
		{nil, nil, ids},
		{jute.OpenACL(), jute.OpenACL(), nil},
		{append(jute.OpenACL(), jute.OpenACL()...), jute.OpenACL(), nil},
		{[]jute.ACL{{Perms: 1, ID: id("world", "someone")}}, nil, ids},
		{[]jute.ACL{{Perms: 1, ID: id("auth", "ignored")}}, nil, ids[:1]},
		{
			[]jute.ACL{{Perms: 5, ID: id("auth", "")}},
			[]jute.ACL{{Perms: 5, ID: id("digest", "u:h")}, {Perms: 5, ID: id("digest", "v:h")}},
			ids,
		},
		{[]jute.ACL{{Perms: 1, ID: id("ip", "10.0.0.0/40")}}, nil, ids},
		{[]jute.ACL{{Perms: 1, ID: id("what", "ever")}}, nil, ids},
	} {
		if diff := cmp.Diff(c.want, g.fix(c.acl, c.ids)); diff != "" {
			t.Errorf("%v: %s", c.acl, diff)
		}
	}
}

// TestACLsAreShared: equal lists are one entry, which goes with its last node; keys are not given out twice.
func TestACLsAreShared(t *testing.T) {
	m := newMachine()
	base := m.tree.View().ACLCount()
	mine := []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "ip", ID: "10.0.0.0/8"}}}
	for _, path := range []string{"/a", "/b"} {
		r := createOpen(path)
		r.ACL = mine
		m.prep(1, jute.OpCreate, r, "OK "+path)
	}
	m.applyAll()
	both := m.tree.View()
	m.prep(1, jute.OpDelete, &jute.PathVersion{Path: "/a", Version: -1}, "OK ")
	m.applyAll()
	one := m.tree.View()
	m.prep(1, jute.OpDelete, &jute.PathVersion{Path: "/b", Version: -1}, "OK ")
	m.applyAll()
	if n := []int{both.ACLCount(), one.ACLCount(), m.tree.View().ACLCount()}; !cmp.Equal(n, []int{base + 1, base + 1, base}) {
		t.Errorf("%d at first, then %v", base, n)
	}
	for key, acl := range both.ACLs() {
		if n, _ := both.Lookup("/a"); n.n.acl.key == key && !cmp.Equal(acl, mine) {
			t.Errorf("%d is %v", key, acl)
		}
	}
}
