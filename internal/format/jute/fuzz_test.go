package jute

import (
	"bytes"
	"testing"
)

// again checks that what decoded encodes to something that decodes to the same bytes: decoding may repair,
// once.
func again(t *testing.T, r, fresh Record) {
	t.Helper()
	first := r.Append(nil)
	d := NewDecoder(first, 0)
	if fresh.Decode(d); d.Err() != nil {
		t.Fatalf("%x is not read back: %v", first, d.Err())
	}
	if second := fresh.Append(nil); !bytes.Equal(first, second) {
		t.Fatalf("%x became %x", first, second)
	}
}

func FuzzRequest(f *testing.F) {
	for _, x := range readFrames(f) {
		if len(x.payload) >= RequestHeaderSize && x.from[0] == 'C' {
			f.Add(x.payload)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d := NewDecoder(b, 0)
		var h RequestHeader
		h.Decode(d)
		r, err := DecodeRequest(h.Type, d)
		if err == nil && r != nil && d.Err() == nil {
			again(t, r, NewRequest(h.Type))
		}
		var c ConnectRequest
		d = NewDecoder(b, 1024)
		if c.Decode(d); d.Err() == nil {
			again(t, &c, &ConnectRequest{})
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, x := range readFrames(f) {
		if len(x.payload) >= ReplyHeaderSize && x.from[0] == 'S' {
			for _, op := range []OpCode{OpNotification, OpGetData, OpMulti, OpGetACL, OpGetChildren2} {
				f.Add(int32(op), x.payload[ReplyHeaderSize:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, op int32, b []byte) {
		r := NewResponse(OpCode(op))
		if r == nil {
			return
		}
		d := NewDecoder(b, 0)
		if r.Decode(d); d.Err() == nil {
			again(t, r, NewResponse(OpCode(op)))
		}
	})
}

func FuzzTxn(f *testing.F) {
	for _, b := range readTxns(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		txn, err := DecodeTxn(b)
		if err != nil {
			return
		}
		first := txn.Append(nil)
		back, err := DecodeTxn(first)
		if err != nil {
			t.Fatalf("%x is not read back: %v", first, err)
		}
		if second := back.Append(nil); !bytes.Equal(first, second) {
			t.Fatalf("%x became %x", first, second)
		}
	})
}

func FuzzDataNode(f *testing.F) {
	f.Add((&DataNode{Data: []byte("x"), ACL: -1}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n DataNode
		d := NewDecoder(b, 0)
		if n.Decode(d); d.Err() == nil {
			again(t, &n, &DataNode{})
		}
	})
}
