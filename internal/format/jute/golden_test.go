package jute

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// frame is one of the captured conversation.
type frame struct {
	from    string // "C1": the client of the first session
	payload []byte
}

func readFrames(t testing.TB) (out []frame) {
	for line := range strings.Lines(readGolden(t, "frames.txt")) {
		from, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		out = append(out, frame{from, unhex(t, text)})
	}
	return out
}

func readTxns(t testing.TB) (out [][]byte) {
	for line := range strings.Lines(readGolden(t, "txns.txt")) {
		out = append(out, unhex(t, strings.TrimSpace(line)))
	}
	return out
}

func readGolden(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/golden/client/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoldenTraffic: every frame that Apache's client and server exchanged decodes, and encodes to the same
// bytes.
func TestGoldenTraffic(t *testing.T) {
	pending := map[string]map[int32]OpCode{}
	seen := map[OpCode]int{}
	for i, f := range readFrames(t) {
		session, d := f.from[1:], NewDecoder(f.payload, 0)
		var got []byte
		switch {
		case pending[session] == nil && f.from[0] == 'C':
			var r ConnectRequest
			r.Decode(d)
			got = r.Append(nil)
			pending[session] = map[int32]OpCode{}
		case len(pending[session]) == 0 && f.from[0] == 'S':
			var r ConnectResponse
			r.Decode(d)
			got = r.Append(nil)
			pending[session][0] = OpCreateSession
		case f.from[0] == 'C':
			got = goldenRequest(t, d, pending[session], seen)
		default:
			got = goldenReply(t, d, pending[session])
		}
		if d.Err() != nil || d.Remaining() != 0 {
			t.Errorf("frame %d of %s: %v, %d bytes left", i+1, f.from, d.Err(), d.Remaining())
		}
		if !bytes.Equal(got, f.payload) {
			t.Errorf("frame %d of %s:\n%x, decoded and encoded again:\n%x", i+1, f.from, f.payload, got)
		}
	}
	for _, op := range []OpCode{
		OpCreate, OpDelete, OpExists, OpGetData, OpSetData, OpGetACL, OpSetACL, OpGetChildren2, OpSync, OpMulti, OpCreate2,
		OpCheckWatches, OpRemoveWatches, OpCreateContainer, OpCreateTTL, OpMultiRead, OpAuth, OpGetEphemerals,
		OpGetAllChildrenNumber, OpAddWatch, OpWhoAmI, OpCloseSession,
	} {
		if seen[op] == 0 && op != OpCheckWatches {
			t.Errorf("the capture has no %v", op)
		}
	}
}

func goldenRequest(t *testing.T, d *Decoder, pending map[int32]OpCode, seen map[OpCode]int) []byte {
	t.Helper()
	var h RequestHeader
	h.Decode(d)
	r, err := DecodeRequest(h.Type, d)
	if err != nil {
		t.Errorf("%v: %v", h.Type, err)
	}
	pending[h.Xid] = h.Type
	seen[h.Type]++
	got := h.Append(nil)
	if r != nil {
		got = r.Append(got)
	}
	return got
}

func goldenReply(t *testing.T, d *Decoder, pending map[int32]OpCode) []byte {
	t.Helper()
	var h ReplyHeader
	h.Decode(d)
	op := OpNotification
	if h.Xid != XidNotification {
		op = pending[h.Xid]
	}
	r := NewResponse(op)
	got := h.Append(nil)
	if r == nil || h.Err != OK {
		return got
	}
	r.Decode(d)
	return r.Append(got)
}

// TestGoldenTxns: every entry of Apache's log decodes, and encodes to the same bytes.
func TestGoldenTxns(t *testing.T) {
	seen := map[OpCode]int{}
	for i, b := range readTxns(t) {
		txn, err := DecodeTxn(b)
		if err != nil {
			t.Errorf("entry %d: %v", i+1, err)
			continue
		}
		seen[txn.Header.Type]++
		if isError := txn.Header.Type == OpError; isError != (txn.Digest == nil) {
			t.Errorf("entry %d, %v: digest %v", i+1, txn.Header.Type, txn.Digest)
		}
		if got := txn.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("entry %d:\n%x, decoded and encoded again:\n%x", i+1, b, got)
		}
	}
	for _, op := range []OpCode{
		OpCreateSession, OpCloseSession, OpCreate, OpCreate2, OpCreateTTL, OpCreateContainer, OpDelete, OpSetData, OpSetACL,
		OpMulti, OpError,
	} {
		if seen[op] == 0 {
			t.Errorf("the log has no %v", op)
		}
	}
}
