package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kalda/kalda/internal/format/batch"
)

// Every key and value of Apache's segments that we know decodes and encodes to the same bytes.
func TestGroupGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/golden/group/*.log")
	if len(files) != 10 {
		t.Fatalf("%d golden segments, want 10", len(files))
	}
	kinds := map[GroupKind]int{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		eachRecord(t, b, func(key, value []byte) { kinds[roundTrip(t, key, value)]++ })
	}
	for kind, n := range map[GroupKind]int{
		KindOffsetCommit: 14, KindClassicGroup: 16, KindConsumerGroup: 21, KindConsumerPartitions: 3,
		KindConsumerMember: 28, KindConsumerTarget: 18, KindConsumerTargetOf: 31, KindConsumerCurrent: 41,
		KindConsumerRegex: 5, KindShareMember: 4, KindShareGroup: 5, KindShareTarget: 4, KindShareTargetOf: 5,
		KindShareCurrent: 4, KindShareTopics: 4,
	} {
		if kinds[kind] != n {
			t.Errorf("%d records of kind %d, want %d", kinds[kind], kind, n)
		}
	}
}

func eachRecord(t *testing.T, b []byte, each func(key, value []byte)) {
	t.Helper()
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		if v.Control() {
			continue
		}
		r, err := v.Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		var rec batch.Record
		for r.Next(&rec) {
			each(rec.Key, rec.Value)
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		r.Close()
	}
}

func roundTrip(t *testing.T, key, value []byte) GroupKind {
	t.Helper()
	k, err := DecodeGroupKey(key)
	if err != nil {
		t.Fatalf("key %q: %v", key, err)
	}
	if !bytes.Equal(k.Encode(), key) {
		t.Errorf("key %q encodes as %q", key, k.Encode())
	}
	if value == nil {
		return k.Kind
	}
	v, err := decodeValue(k.Kind, value)
	if err != nil {
		t.Fatalf("kind %d, value %q: %v", k.Kind, value, err)
	}
	if again := v.Encode(); !bytes.Equal(again, value) {
		t.Errorf("value %q encodes as %q", value, again)
	}
	return k.Kind
}

type encoder interface{ Encode() []byte }

func decodeValue(k GroupKind, b []byte) (encoder, error) {
	switch k {
	case KindOffsetCommit:
		v, err := DecodeOffsetValue(b)
		return &v, err
	case KindClassicGroup:
		v, err := DecodeGroupValue(b)
		return &v, err
	case KindConsumerGroup:
		v, err := DecodeConsumerGroup(b)
		return &v, err
	case KindConsumerMember:
		v, err := DecodeConsumerMember(b)
		return &v, err
	case KindShareMember:
		v, err := DecodeShareMember(b)
		return &v, err
	case KindShareGroup:
		v, err := DecodeShareGroup(b)
		return &v, err
	case KindShareCurrent:
		v, err := DecodeShareCurrent(b)
		return &v, err
	case KindShareTopics:
		v, err := DecodeShareTopics(b)
		return &v, err
	case KindConsumerTarget, KindShareTarget:
		v, err := DecodeConsumerTarget(b)
		return &v, err
	case KindConsumerTargetOf, KindShareTargetOf:
		v, err := DecodeConsumerTargetOf(b)
		return &v, err
	case KindConsumerCurrent:
		v, err := DecodeConsumerCurrent(b)
		return &v, err
	case KindConsumerRegex:
		v, err := DecodeConsumerRegex(b)
		return &v, err
	}
	return nil, fmt.Errorf("kind %d has no codec", k)
}

// Versions that old nodes wrote keep their bytes too.
func TestGroupVersions(t *testing.T) {
	s := func(s string) *string { return &s }
	for version := int16(0); version <= 4; version++ {
		o := OffsetValue{
			Version: version, Offset: 7, LeaderEpoch: 3, Metadata: "m", CommitTimestamp: 5,
			ExpireTimestamp: 6,
		}
		if got, err := DecodeOffsetValue(o.Encode()); err != nil || !bytes.Equal(got.Encode(), o.Encode()) {
			t.Errorf("offset v%d: %+v, %v", version, got, err)
		}
		g := GroupValue{
			Version: version, ProtocolType: "consumer", Generation: 2, Protocol: s("range"),
			StateTimestamp: 9,
			Members: []GroupMember{{
				ID: "a", InstanceID: s("i"), ClientID: "c", ClientHost: "/h", SessionTimeout: 1,
				RebalanceTimeout: 2, Subscription: []byte("s"), Assignment: []byte{},
			}},
		}
		if got, err := DecodeGroupValue(g.Encode()); err != nil || !bytes.Equal(got.Encode(), g.Encode()) {
			t.Errorf("group v%d: %+v, %v", version, got, err)
		}
	}
}

func FuzzGroupRecords(f *testing.F) {
	files, _ := filepath.Glob("testdata/golden/group/*.log")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for len(b) > 0 {
			v, rest, err := batch.Next(b)
			if err != nil {
				f.Fatal(err)
			}
			b = rest
			r, _ := v.Records(nil)
			var rec batch.Record
			for r.Next(&rec) {
				f.Add(rec.Key, rec.Value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if k, err := DecodeGroupKey(key); err == nil && k.Kind <= KindConsumerLast && k.Kind >= 0 {
			if !bytes.Equal(k.Encode(), key) {
				t.Errorf("key %q encodes as %q", key, k.Encode())
			}
		}
		for k := KindOffsetCommit; k <= KindConsumerRegex; k++ {
			v, err := decodeValue(k, value)
			if err != nil {
				continue
			}
			if _, err := decodeValue(k, v.Encode()); err != nil {
				t.Errorf("%+v: %v", v, err)
			}
		}
	})
}

// The golden segments' names say where Apache put the groups.
func TestCoordinator(t *testing.T) {
	for id, want := range map[string]int32{
		"gold-classic": 37, "gold-static": 45, "gold-kip848": 25,
		"gold-simple": 7, "mm": 38, "s": 15, "x": 20,
		"gold-txn-0": 28, "": 0, "polygenelubricants": 0 /* hash MIN_VALUE */, "😀": 49,
	} {
		if got := Coordinator(id, 50); got != want {
			t.Errorf("%q is at %d, want %d", id, got, want)
		}
	}
}
