package jute

import (
	"bytes"
	"errors"
	"testing"
)

// TestBadInput is the table of the reference's section 1.9, as far as it is about records.
func TestBadInput(t *testing.T) {
	path := AppendString(nil, "/a")
	long := AppendInt(nil, 1<<30)
	negative := AppendInt(nil, -2)
	for _, c := range []struct {
		name string
		op   OpCode
		body []byte
		ok   bool
	}{
		{"nothing", OpGetData, nil, false},
		{"no watch flag", OpGetData, path, false},
		{"whole", OpGetData, AppendBool(path, true), true},
		{"bytes after it are ignored", OpGetData, append(AppendBool(path, true), 1, 2, 3), true},
		{"any true", OpGetData, append(path[:6:6], 7), true},
		{"null path", OpGetData, AppendBool(AppendNull(nil), false), false},
		{"empty path", OpGetData, AppendBool(AppendString(nil, ""), false), true},
		{"a length beyond the frame", OpGetData, append(long, "/a"...), false},
		{"a negative length", OpGetData, append(negative, "/a"...), false},
		{"null path of a write", OpDelete, AppendInt(AppendNull(nil), -1), false},
		{"data beyond the frame", OpSetData, append(path[:6:6], long...), false},
		{"negative data", OpSetData, AppendInt(append(path[:6:6], negative...), -1), false},
		{"null data", OpSetData, AppendInt(AppendNull(path[:6:6]), -1), true},
		{"more ACLs than bytes", OpSetACL, append(path[:6:6], long...), false},
		{"null ACL", OpSetACL, AppendInt(AppendNull(path[:6:6]), -1), true},
		{"a negative number of ACLs is none", OpSetACL, AppendInt(AppendInt(path[:6:6], -7), -1), true},
		{"more watches than bytes", OpSetWatches, append(AppendLong(nil, 1), long...), false},
		{"null lists", OpSetWatches, AppendNull(AppendNull(AppendNull(AppendLong(nil, 1)))), true},
		{"a multi without an end", OpMulti, nil, false},
		{"a multi of nothing", OpMulti, AppendMultiEnd(nil), true},
		{"a sync in a multi", OpMulti, AppendMultiEnd(multiOp(OpSync, path)), false},
		{"a read in a multi", OpMulti, AppendMultiEnd(multiOp(OpGetData, AppendBool(path, false))), false},
		{"a write in a multiRead", OpMultiRead, AppendMultiEnd(multiOp(OpDelete, AppendInt(path, 0))), false},
		{"a multi in a multi", OpMulti, AppendMultiEnd(multiOp(OpMulti, AppendMultiEnd(nil))), false},
		{"a short write in a multi", OpMulti, multiOp(OpDelete, path), false},
		{"an unknown opcode", 999, []byte{1}, true},
	} {
		r, err := DecodeRequest(c.op, NewDecoder(c.body, 0))
		if (err == nil) != c.ok {
			t.Errorf("%s: %v, %v", c.name, r, err)
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v is not ErrMalformed", c.name, err)
		}
	}
}

func multiOp(op OpCode, body []byte) []byte {
	return append((&MultiHeader{Type: op, Err: -1}).Append(nil), body...)
}

func TestLimit(t *testing.T) {
	b := AppendBuffer(nil, make([]byte, 100))
	if d := NewDecoder(b, 100); d.Buffer() == nil || d.Err() != nil {
		t.Error("as long as allowed is refused")
	}
	if d := NewDecoder(b, 99); d.Buffer() != nil || d.Err() == nil {
		t.Error("longer than allowed is taken")
	}
}

// TestStrings: what is no UTF-8 decodes all the same; surrogates of three bytes, which Apache's writers
// send, pair up.
func TestStrings(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{
		{"/plain", "/plain"},
		{"/\xc3\xa4", "/ä"},
		{"/\xff!", "/\ufffd!"},
		{"\xed\xa0\xbd\xed\xb8\x80", "\U0001f600"},
		{"\xed\xa0\xbd-", "\ufffd\ufffd\ufffd-"},
		{"\xed\xa0", "\ufffd\ufffd"},
		{"", ""},
	} {
		for _, alias := range []bool{false, true} {
			d := NewDecoder(AppendString(nil, c.bytes), 0)
			d.Alias(alias)
			if got, ok := d.Text(); got != c.want || !ok {
				t.Errorf("%q is %q, want %q", c.bytes, got, c.want)
			}
		}
	}
	if s, ok := NewDecoder(AppendNull(nil), 0).Text(); ok || s != "" {
		t.Errorf("null is %q, %v", s, ok)
	}
}

// TestNullAndEmpty stay distinct.
func TestNullAndEmpty(t *testing.T) {
	for _, data := range [][]byte{nil, {}} {
		r := SetDataRequest{Path: "/a", Data: data}
		var got SetDataRequest
		got.Decode(NewDecoder(r.Append(nil), 0))
		if (got.Data == nil) != (data == nil) {
			t.Errorf("%#v became %#v", data, got.Data)
		}
	}
	for _, names := range [][]string{nil, {}} {
		var got StringsResponse
		got.Decode(NewDecoder((&StringsResponse{names}).Append(nil), 0))
		if (got.Names == nil) != (names == nil) {
			t.Errorf("%#v became %#v", names, got.Names)
		}
	}
}

// TestOldConnect: clients before 3.4 send no read-only byte, and get none.
func TestOldConnect(t *testing.T) {
	whole := (&ConnectRequest{Timeout: 1, Password: make([]byte, 16), HasReadOnly: true, ReadOnly: true}).Append(nil)
	for _, n := range []int{44, 45} {
		var r ConnectRequest
		d := NewDecoder(whole[:n], 0)
		if r.Decode(d); d.Err() != nil || r.HasReadOnly != (n == 45) || r.ReadOnly != (n == 45) {
			t.Errorf("%d bytes: %+v, %v", n, r, d.Err())
		}
		a := ConnectResponse{Password: make([]byte, 16), HasReadOnly: r.HasReadOnly}
		if got := len(a.Append(nil)); got != n-8 {
			t.Errorf("the reply to %d bytes has %d", n, got)
		}
	}
}

// TestOldTxns: what releases before 3.6 wrote.
func TestOldTxns(t *testing.T) {
	head := TxnHeader{ClientID: 1, Zxid: 2, Type: OpCloseSession}
	digest := TxnDigest{Version: DigestVersion, Tree: 99}
	for _, c := range []struct {
		name   string
		txn    Txn
		digest bool
	}{
		{"closeSession without paths", Txn{Header: head}, false},
		{"closeSession without paths, with a digest", Txn{Header: head, Digest: &digest}, true},
		{"closeSession", Txn{Header: head, Body: &CloseSessionTxn{Paths: []string{"/e"}}, Digest: &digest}, true},
		{
			"create of 3.3",
			Txn{Header: TxnHeader{Type: OpCreate}, Body: &CreateTxn{Path: "/a", Old: true, ParentCVersion: -1}},
			false,
		},
	} {
		b := c.txn.Append(nil)
		got, err := DecodeTxn(b)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !bytes.Equal(got.Append(nil), b) || (got.Digest != nil) != c.digest {
			t.Errorf("%s: %x became %x", c.name, b, got.Append(nil))
		}
		if (got.Body == nil) != (c.txn.Body == nil) {
			t.Errorf("%s: the body is %#v", c.name, got.Body)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 31), (&Txn{Header: TxnHeader{Type: 77}}).Append(nil)} {
		if txn, err := DecodeTxn(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x: %+v, %v", b, txn, err)
		}
	}
}

// TestNames: whatever prints them gets a word.
func TestNames(t *testing.T) {
	if s := OpCreateTTL.String() + " " + OpCode(55).String(); s != "createTtl unknown 55" {
		t.Error(s)
	}
	if s := NoNode.String() + " " + Code(-9).String(); s != "NONODE CODE(-9)" {
		t.Error(s)
	}
	if z := Zxid(5<<32 | 7); z.Epoch() != 5 || z.Counter() != 7 || z.String() != "0x500000007" {
		t.Error(z)
	}
}

// TestAllocations: a read's request costs nothing.
func TestAllocations(t *testing.T) {
	b := AppendBool(AppendString(nil, "/a/path/of/some/length"), true)
	d := NewDecoder(nil, 0)
	d.Alias(true)
	var r PathWatch
	if n := testing.AllocsPerRun(100, func() { d.Reset(b); r.Decode(d) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
