package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every key and value of Apache's segments decodes and encodes to the same bytes.
func TestTxnGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/golden/txn/*.log")
	if len(files) != 4 {
		t.Fatalf("%d golden segments, want 4", len(files))
	}
	got := map[string]int{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		eachRecord(t, b, func(key, value []byte) {
			id, known, err := DecodeTxnKey(key)
			if err != nil || !known || !bytes.Equal(TxnKey(id), key) {
				t.Errorf("key %q: %q, %v, %v", key, id, known, err)
			}
			v, err := DecodeTxnValue(value)
			if err != nil || !bytes.Equal(v.Encode(), value) {
				t.Errorf("value %q: %v, encodes as %q", value, err, v.Encode())
			}
			got[fmt.Sprintf("%s v%d client=%d %v", id, v.Version, v.ClientVersion, v.Status)]++
			if (v.Status == TxnEmpty) != (v.Topics == nil) {
				t.Errorf("%s: %v with topics %v", id, v.Status, v.Topics)
			}
		})
	}
	for line := range strings.Lines(goldenTxns) {
		line = strings.TrimSuffix(line, "\n")
		if got[line] == 0 {
			t.Errorf("no record is %q", line)
		}
		delete(got, line)
	}
	if len(got) > 0 {
		t.Errorf("records that were not expected: %v", got)
	}
}

const goldenTxns = `perf v1 client=0 Empty
perf v1 client=2 Ongoing
perf v1 client=2 PrepareCommit
perf v1 client=2 CompleteCommit
killed2 v1 client=0 Empty
killed2 v1 client=2 Ongoing
killed2 v0 client=0 PrepareAbort
killed2 v0 client=0 CompleteAbort
killed0 v0 client=0 Empty
killed0 v0 client=0 Ongoing
killed0 v0 client=0 PrepareAbort
killed0 v0 client=0 CompleteAbort
perf0 v0 client=0 Empty
perf0 v0 client=0 Ongoing
perf0 v0 client=0 PrepareCommit
perf0 v0 client=0 CompleteCommit`

func FuzzTxnRecords(f *testing.F) {
	v := TxnValue{
		Version: 1, ProducerID: 1, Status: TxnOngoing, Topics: []TxnTopic{{Topic: "t", Partitions: []int32{1, 2}}},
		PreviousID: 3, NextID: 4, ClientVersion: 2, NextEpoch: 5, Tags: []Tag{{Number: 9, Value: []byte("x")}},
	}
	f.Add(TxnKey("id"), v.Encode())
	v.Version = 0
	f.Add([]byte{0, 1}, v.Encode())
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if id, known, err := DecodeTxnKey(key); err == nil && known && !bytes.Equal(TxnKey(id), key) {
			t.Errorf("key %q encodes as %q", key, TxnKey(id))
		}
		v, err := DecodeTxnValue(value)
		if err != nil {
			return
		}
		again := v.Encode()
		w, err := DecodeTxnValue(again)
		if err != nil || !bytes.Equal(w.Encode(), again) {
			t.Errorf("value %q: %v, encodes as %q", value, err, again)
		}
	})
}
