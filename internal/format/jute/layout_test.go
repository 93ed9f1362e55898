package jute

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// raw writes fields one after another as section 1.1 says: int32, int64, bool, string, []byte and null.
func raw(t *testing.T, fields ...any) (b []byte) {
	t.Helper()
	for _, f := range fields {
		switch v := f.(type) {
		case nil:
			b = binary.BigEndian.AppendUint32(b, 1<<32-1)
		case int: // the usual one: 4 bytes
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case bool:
			b = append(b, map[bool]byte{true: 1}[v])
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
		default:
			t.Fatalf("%T", f)
		}
	}
	return b
}

// TestLayout_Requests: the fields of section 1.5 in their order, for the requests that the captured conversation lacks.
func TestLayout_Requests(t *testing.T) {
	for _, c := range []struct {
		op   OpCode
		want Record
		raw  []byte
	}{
		{
			OpReconfig, &ReconfigRequest{Joining: TextOf("server.5=x"), Members: TextOf(""), CurConfigID: -1},
			raw(t, "server.5=x", nil, "", int64(-1)),
		},
		{OpAuth, &AuthPacket{Type: 7, Scheme: "digest", Auth: []byte("u:p")}, raw(t, 7, "digest", "u:p")},
		{OpSASL, &Token{[]byte{1, 2}}, raw(t, "\x01\x02")},
		{OpSASL, &Token{}, raw(t, nil)},
		{OpCreateSession, &CreateSessionTxn{5}, raw(t, 5)},
		{
			OpSetWatches2, &SetWatches{
				RelativeZxid: 9, Data: []string{"/a"}, Exist: []string{}, Child: nil, Persistent: []string{"/p", "/q"},
				PersistentRecursive: []string{"/r"}, Two: true,
			},
			raw(t, int64(9), 1, "/a", 0, nil, 2, "/p", "/q", 1, "/r"),
		},
		{OpSetWatches, &SetWatches{RelativeZxid: 9, Data: []string{"/a"}}, raw(t, int64(9), 1, "/a", nil, nil)},
		{OpAddWatch, &AddWatchRequest{"/a", AddPersistentRecursive}, raw(t, "/a", 1)},
		{OpRemoveWatches, &WatchesRequest{"/a", WatcherAny}, raw(t, "/a", 3)},
		{OpCheckWatches, &WatchesRequest{"/a", WatcherChildren}, raw(t, "/a", 1)},
		{OpGetEphemerals, &GetEphemeralsRequest{}, raw(t, nil)},
		{OpGetEphemerals, &GetEphemeralsRequest{TextOf("/a")}, raw(t, "/a")},
		{OpGetAllChildrenNumber, &PathOnly{"/a"}, raw(t, "/a")},
		{OpSync, &PathOnly{"/a"}, raw(t, "/a")},
		{
			OpCreateTTL, &CreateTTLRequest{
				CreateRequest: CreateRequest{Path: "/a", Data: []byte("d"), ACL: OpenACL(), Flags: FlagPersistentTTL}, TTL: 5,
			},
			raw(t, "/a", "d", 1, 31, "world", "anyone", 5, int64(5)),
		},
		{
			OpMultiRead, &MultiRequest{Ops: []Op{
				{OpGetData, &PathWatch{Path: "/a"}}, {OpGetChildren, &PathWatch{Path: "/b", Watch: true}},
			}},
			raw(t, 4, false, -1, "/a", false, 8, false, -1, "/b", true, -1, true, -1),
		},
		{OpWhoAmI, nil, nil},
		{OpPing, nil, nil},
		{OpCloseSession, nil, nil},
		{OpDeleteContainer, nil, raw(t, "/a")}, // only servers make them
	} {
		d := NewDecoder(c.raw, 0)
		got, err := DecodeRequest(c.op, d)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%v: %v %s", c.op, err, diff)
			continue
		}
		if got != nil && (!bytes.Equal(got.Append(nil), c.raw) || d.Offset() != len(c.raw) || len(d.Rest()) != 0) {
			t.Errorf("%v: %x became %x", c.op, c.raw, got.Append(nil))
		}
	}
}

// TestLayout_Replies: the same of replies.
func TestLayout_Replies(t *testing.T) {
	stat := []any{int64(1), int64(2), int64(3), int64(4), 5, 6, 7, int64(8), 9, 10, int64(11)}
	s := Stat{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	with := func(fields ...any) []byte { return raw(t, append(fields, stat...)...) }
	for _, c := range []struct {
		op   OpCode
		want Record
		raw  []byte
	}{
		{OpCreateTTL, &Create2Response{Path: "/a", Stat: s}, with("/a")},
		{OpSetACL, &StatResponse{s}, with()},
		{OpReconfig, &GetDataResponse{Data: []byte("x"), Stat: s}, with("x")},
		{OpGetACL, &GetACLResponse{ACL: OpenACL(), Stat: s}, with(1, 31, "world", "anyone")},
		{OpGetChildren2, &GetChildren2Response{Children: []string{"a", "b"}, Stat: s}, with(2, "a", "b")},
		{OpGetEphemerals, &StringsResponse{[]string{"/a"}}, raw(t, 1, "/a")},
		{OpAddWatch, &IntResponse{0}, raw(t, 0)},
		{OpWhoAmI, &WhoAmIResponse{[]ClientInfo{{"ip", "::1"}, {"digest", "u"}}}, raw(t, 2, "ip", "::1", "digest", "u")},
		{OpWhoAmI, &WhoAmIResponse{}, raw(t, nil)},
		{OpSASL, &Token{[]byte{}}, raw(t, "")},
		{OpNotification, &WatcherEvent{Type: EventNodeDeleted, State: StateSyncConnected, Path: "/a"}, raw(t, 2, 3, "/a")},
		{
			OpMulti, &MultiResponse{[]OpResult{
				{Type: OpCreate, Path: "/a"},
				{Type: OpCheck},
				{Type: OpError, Err: NoNode},
				{Type: OpGetChildren, Children: []string{"x"}},
			}},
			raw(t, 1, false, 0, "/a", 13, false, 0, -1, false, int(NoNode), int(NoNode), 8, false, 0, 1, "x", -1, true, -1),
		},
		{OpDelete, nil, nil},
	} {
		r := NewResponse(c.op)
		if r == nil || c.want == nil {
			if r != c.want {
				t.Errorf("%v: %v", c.op, r)
			}
			continue
		}
		d := NewDecoder(c.raw, 0)
		r.Decode(d)
		if diff := cmp.Diff(c.want, r); d.Err() != nil || diff != "" || d.Remaining() != 0 {
			t.Errorf("%v: %v %s", c.op, d.Err(), diff)
		}
		if !bytes.Equal(r.Append(nil), c.raw) {
			t.Errorf("%v: %x became %x", c.op, c.raw, r.Append(nil))
		}
	}
	var m MultiResponse
	d := NewDecoder(raw(t, 6, false, 0, "/a", -1, true, -1), 0)
	if m.Decode(d); d.Err() == nil {
		t.Error("a getACL's result in a multi is taken")
	}
}

// TestLayout_Txns: multis of section 3.4, and those that no server can have written.
func TestLayout_Txns(t *testing.T) {
	head := func(op OpCode) []byte { return raw(t, int64(1), 2, int64(3), int64(4), int(op)) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name string
		raw  []byte
		want Record
	}{
		{"no multi at all", join(head(OpMulti), raw(t, nil)), &MultiTxn{}},
		{"an empty multi", join(head(OpMulti), raw(t, 0)), &MultiTxn{Txns: []SubTxn{}}},
		{
			"a multi", join(head(OpMulti), raw(t, 2, 13, string(raw(t, "/a", 4)), -1, string(raw(t, -2)))),
			&MultiTxn{Txns: []SubTxn{
				{OpCheck, &CheckVersionTxn{"/a", 4}}, {OpError, &ErrorTxn{RuntimeInconsistency}},
			}},
		},
		{"a multi in a multi", join(head(OpMulti), raw(t, 1, 14, string(raw(t, 0)))), nil},
		{"a session in a multi", join(head(OpMulti), raw(t, 1, -10, string(raw(t, 5)))), nil},
		{"a short body in a multi", join(head(OpMulti), raw(t, 1, 2, string(raw(t, 5)))), nil},
		{"a null body in a multi", join(head(OpMulti), raw(t, 1, 2, nil)), nil},
		{"fewer than it says", join(head(OpMulti), raw(t, 3, -1, string(raw(t, -2)))), nil},
		{"check outside a multi", join(head(OpCheck), raw(t, "/a", 4)), nil},
		{"a reconfig", join(head(OpReconfig), raw(t, "/c", "x", -1)), &SetDataTxn{"/c", []byte("x"), -1}},
		{"a container's end", join(head(OpDeleteContainer), raw(t, "/c")), &DeleteTxn{"/c"}},
		{"a short session", join(head(OpCreateSession), []byte{1}), nil},
	} {
		txn, err := DecodeTxn(c.raw)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: %+v", c.name, txn)
			}
			continue
		}
		if diff := cmp.Diff(c.want, txn.Body); err != nil || diff != "" || !bytes.Equal(txn.Append(nil), c.raw) {
			t.Errorf("%s: %v %s %x", c.name, err, diff, txn.Append(nil))
		}
	}
	d := NewDecoder(nil, 10)
	d.Reset(raw(t, "123456"))
	if d.Limit(5); len(d.Buffer()) != 0 || d.Err() == nil {
		t.Error("6 bytes where 5 are the limit")
	}
}
