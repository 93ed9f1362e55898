package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

var codecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

func rules() Rules {
	return Rules{MaxBytes: 1 << 20, BeforeMaxMs: math.MaxInt64, AfterMaxMs: 3_600_000, Level: DefaultLevel}
}

func someRecords(n int) []Record {
	rs := make([]Record, n)
	for i := range rs {
		rs[i] = Record{
			OffsetDelta: int32(i), TimestampDelta: int64(i % 7), Key: fmt.Appendf(nil, "k%d", i),
			Value: bytes.Repeat([]byte{byte(i), byte(i >> 8)}, i%300),
		}
		if i%3 == 0 {
			rs[i].Headers = []Header{{Key: "h", Value: []byte("v")}, {Key: "", Value: nil}}
		}
		if i%5 == 1 {
			rs[i].Value = nil
		}
	}
	return rs
}

func build(t testing.TB, m Meta, rs []Record) View {
	t.Helper()
	b, err := Build(nil, m, rs)
	if err != nil {
		t.Fatal(err)
	}
	return View(b)
}

func meta(c Codec) Meta {
	m := NoProducer(0, -1, 1000)
	m.Codec = c
	return m
}

func readAll(v View, d *Decompressor) (rs []Record, err error) {
	r, err := v.Records(d)
	if err != nil {
		return nil, err
	}
	for {
		var rec Record
		if !r.Next(&rec) {
			return rs, r.Err()
		}
		rs = append(rs, rec)
	}
}

func equalRecords(t *testing.T, got, want []Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		if g, w := AppendRecord(nil, &got[i]), AppendRecord(nil, &want[i]); !bytes.Equal(g, w) {
			t.Fatalf("record %d: %x, want %x", i, g, w)
		}
	}
}

func TestBuildAndReadEachCodec(t *testing.T) {
	for _, c := range codecs {
		for _, n := range []int{1, 10, 2000} {
			rs := someRecords(n)
			v := build(t, meta(c), rs)
			if err := Verify(v); err != nil {
				t.Fatal(err)
			}
			got, err := readAll(v, nil)
			if err != nil {
				t.Fatalf("codec %d: %v", c, err)
			}
			equalRecords(t, got, rs)
			r := rules()
			ck, rej := Check(v, 1000, &r, nil)
			if rej != nil {
				t.Fatalf("codec %d: %s", c, rej.Message)
			}
			if want := int64(1000 + min(n-1, 6)); ck.MaxTimestamp != want || v.MaxTimestamp() != want || ck.Rebuilt {
				t.Fatalf("max timestamp %d, header %d, want %d", ck.MaxTimestamp, v.MaxTimestamp(), want)
			}
		}
	}
}

func TestCheckRebuildsForTheTopicsCodec(t *testing.T) {
	for _, from := range codecs {
		for _, to := range codecs {
			for _, level := range []int{DefaultLevel, 1, 3, 9, 12} {
				m := meta(from)
				m.ProducerID, m.ProducerEpoch, m.BaseSequence, m.Transactional = 7, 2, 40, true
				rs := someRecords(500)
				r := rules()
				r.Target, r.Level = &to, level
				ck, rej := Check(build(t, m, rs), 1000, &r, nil)
				if rej != nil {
					t.Fatal(rej)
				}
				if ck.Rebuilt != (from != to) || Verify(ck.Batch) != nil {
					t.Fatalf("%d to %d: rebuilt %v, %v", from, to, ck.Rebuilt, Verify(ck.Batch))
				}
				m.Codec = to
				if got := ck.Batch.Meta(); got != m {
					t.Fatalf("meta %+v, want %+v", got, m)
				}
				got, err := readAll(ck.Batch, nil)
				if err != nil {
					t.Fatal(err)
				}
				equalRecords(t, got, rs)
			}
		}
	}
}

func TestCheckRenumbersOffsets(t *testing.T) {
	for _, c := range codecs {
		rs := someRecords(4)
		rs[1].OffsetDelta, rs[2].OffsetDelta = 2, 1
		r := rules()
		ck, rej := Check(build(t, meta(c), rs), 1000, &r, nil)
		if rej != nil {
			t.Fatal(rej)
		}
		rs[1].OffsetDelta, rs[2].OffsetDelta = 1, 2
		got, err := readAll(ck.Batch, nil)
		if err != nil || !ck.Rebuilt {
			t.Fatal(err, ck.Rebuilt)
		}
		equalRecords(t, got, rs)
	}
}

func TestCheckLogAppendTime(t *testing.T) {
	v := build(t, meta(None), someRecords(3))
	r := rules()
	r.LogAppendTime = true
	ck, rej := Check(v, 777, &r, nil)
	if rej != nil {
		t.Fatal(rej)
	}
	if ck.MaxTimestamp != 777 || !v.LogAppendTime() || v.MaxTimestamp() != 777 || Verify(v) != nil {
		t.Fatalf("%+v %v", ck, Verify(v))
	}
}

func TestCheckRejects(t *testing.T) {
	crc := func(f func(v View)) func(v View) { return func(v View) { f(v); v.SetCRC() } }
	put32 := func(pos int, n int32) func(v View) {
		return crc(func(v View) { binary.BigEndian.PutUint32(v[pos:], uint32(n)) })
	}
	cases := []struct {
		name  string
		spoil func(v View)
		rules func(r *Rules)
		code  int16
		bad   int
	}{
		{"checksum", func(v View) { v[len(v)-1] ^= 1 }, nil, CodeCorruptMessage, 0},
		{"magic", func(v View) { v[posMagic] = 1 }, nil, CodeInvalidRecord, 0},
		{"base offset", func(v View) { v.SetBaseOffset(1) }, nil, CodeInvalidRecord, 0},
		{"size", nil, func(r *Rules) { r.MaxBytes = 80 }, CodeMessageTooLarge, 0},
		{"length", func(v View) { v[posLength+3]++ }, nil, CodeCorruptMessage, 0},
		{"count too small", put32(posCount, 2), nil, CodeInvalidRecord, 0},
		{"count and delta too big", crc(func(v View) { v.putCounts(3, 4) }), nil, CodeInvalidRecord, 0},
		{"count and delta too small", crc(func(v View) { v.putCounts(1, 2) }), nil, CodeInvalidRecord, 0},
		{"negative count", crc(func(v View) { v.putCounts(-2, -1) }), nil, CodeInvalidRecord, 0},
		{
			"huge count", crc(func(v View) { v.putCounts(math.MaxInt32-1, math.MaxInt32) }), nil,
			CodeInvalidRecord, 0,
		},
		{"control", crc(func(v View) { v[posAttributes+1] |= attrControl }), nil, CodeInvalidRecord, 0},
		{
			"sequence", crc(func(v View) { binary.BigEndian.PutUint64(v[posProducerID:], 5) }), nil,
			CodeInvalidRecord, 0,
		},
		{"codec", crc(func(v View) { v[posAttributes+1] |= 6 }), nil, CodeUnsupportedCompression, 0},
		{"not gzip", crc(func(v View) { v[posAttributes+1] |= 1 }), nil, CodeCorruptMessage, 0},
		{"record length", crc(func(v View) { v[HeaderSize] += 2 }), nil, CodeInvalidRecord, 0},
		{
			"client's append time", crc(func(v View) { v[posAttributes+1] |= attrLogAppendTime }), nil,
			CodeInvalidTimestamp, 3,
		},
		{"too new", nil, func(r *Rules) { r.AfterMaxMs = 1 }, CodeInvalidTimestamp, 1},
		{"too old", nil, func(r *Rules) { r.BeforeMaxMs = -2 }, CodeInvalidTimestamp, 2},
		{"no key", nil, func(r *Rules) { r.Compacted = true }, CodeInvalidRecord, 1},
	}
	for _, c := range cases {
		rs := []Record{
			{Key: []byte("k")},
			{OffsetDelta: 1, TimestampDelta: 1, Key: []byte{}, Value: []byte("v")},
			{OffsetDelta: 2, TimestampDelta: 2, Value: []byte("x"), Headers: []Header{{Key: "a"}}},
		}
		if c.name == "too new" {
			rs[2].TimestampDelta = 102
		}
		v := build(t, meta(None), rs)
		r := rules()
		if c.spoil != nil {
			c.spoil(v)
		}
		if c.rules != nil {
			c.rules(&r)
		}
		_, rej := Check(v, 1000, &r, nil)
		if rej == nil || rej.Code != c.code || len(rej.Records) != c.bad {
			t.Errorf("%s: %+v, want code %d with %d records", c.name, rej, c.code, c.bad)
		}
	}
}

func TestTimestampMinusOneIsExempt(t *testing.T) {
	m := meta(None)
	m.BaseTimestamp = -1
	r := rules()
	r.BeforeMaxMs = 10
	if _, rej := Check(build(t, m, []Record{{Key: []byte("k")}}), 1e12, &r, nil); rej != nil {
		t.Fatal(rej)
	}
}

func TestBombs(t *testing.T) {
	for _, c := range codecs[1:] {
		v := build(t, meta(c), []Record{{Value: make([]byte, 32<<20)}})
		d := &Decompressor{MaxBytes: 1 << 20}
		r := rules()
		r.MaxBytes = 64 << 20
		if _, rej := Check(v, 1000, &r, d); rej == nil || rej.Code != CodeMessageTooLarge {
			t.Errorf("codec %d: %+v", c, rej)
		}
		if _, err := v.Records(d); !errors.Is(err, ErrTooBig) {
			t.Errorf("codec %d: %v", c, err)
		}
	}
}

func TestForeignCompression(t *testing.T) {
	raw := bytes.Repeat([]byte("some words that repeat, "), 20000)
	var linked bytes.Buffer
	w := lz4.NewWriter(&linked)
	err := w.Apply(lz4.BlockChecksumOption(true), lz4.ChecksumOption(true), lz4.SizeOption(uint64(len(raw))))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(raw)
	_ = w.Close()
	got, err := unlz4(nil, linked.Bytes(), 1<<30)
	if err != nil || !bytes.Equal(got, raw) {
		t.Fatalf("lz4 with checksums and size: %v", err)
	}
	enc, err := lz4To(nil, 9, raw)
	if err != nil {
		t.Fatal(err)
	}
	back := make([]byte, len(raw)+1)
	if n, err := lz4.NewReader(bytes.NewReader(enc)).Read(back); !bytes.Equal(back[:n], raw) {
		t.Fatalf("the library reads our frame: %v", err)
	}
	bare := snappyTo(nil, raw[:1000])[len(xerialHeader)+4:]
	if got, err := unsnappy(nil, bare, 1<<20); err != nil || !bytes.Equal(got, raw[:1000]) {
		t.Fatalf("bare snappy: %v", err)
	}
}

func TestNoAllocation(t *testing.T) {
	r := rules()
	var d Decompressor
	for _, c := range codecs {
		v := build(t, meta(c), someRecords(200))
		check := func() {
			if _, rej := Check(v, 1000, &r, &d); rej != nil {
				t.Fatal(rej)
			}
		}
		read := func() {
			rd, _ := v.Records(&d)
			rec := Record{Headers: make([]Header, 0, 4)}
			for rd.Next(&rec) {
			}
			rd.Close()
		}
		check()
		if n := testing.AllocsPerRun(100, check); n > 0 && c != Gzip || n > 2 {
			t.Errorf("Check, codec %d: %v allocations", c, n)
		}
		if n := testing.AllocsPerRun(100, read); n > 3 {
			t.Errorf("read, codec %d: %v allocations", c, n)
		}
	}
}

func TestVarints(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := int64(g.Uint64()) >> g.IntN(64)
		b := binary.AppendVarint(nil, n)
		if v, p := varint(b, 0); v != n || p != len(b) || varintLen(n) != len(b) {
			t.Fatalf("%d: %d, %d of %d, length %d", n, v, p, len(b), varintLen(n))
		}
		if _, p := varint(b[:len(b)-1], 0); p != -1 {
			t.Fatal("read past the end")
		}
	}
	if _, p := varint(bytes.Repeat([]byte{0xff}, 10), 0); p != -1 {
		t.Fatal("eleven bytes")
	}
}

func FuzzRecords(f *testing.F) {
	for _, c := range codecs {
		b, _ := Build(nil, meta(c), someRecords(5))
		f.Add(b)
	}
	d := &Decompressor{MaxBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, b []byte) {
		for rest := b; ; {
			v, r, err := Next(rest)
			if err != nil {
				return
			}
			rest = r
			if rs, err := readAll(v, d); err == nil && len(rs) != int(v.Count()) {
				t.Fatalf("%d records of %d", len(rs), v.Count())
			}
		}
	})
}

// FuzzCheck also compares Check with the plain reader: what one accepts the other reads.
func FuzzCheck(f *testing.F) {
	for _, c := range codecs {
		b, _ := Build(nil, meta(c), someRecords(5))
		f.Add(b, false)
	}
	d := &Decompressor{MaxBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, b []byte, compacted bool) {
		v, _, err := Next(b)
		if err != nil {
			return
		}
		v = bytes.Clone(v)
		v.SetBaseOffset(0)
		v.SetCRC()
		r := rules()
		r.Compacted = compacted
		ck, rej := Check(v, 1000, &r, d)
		if rej != nil {
			return
		}
		rs, err := readAll(ck.Batch, d)
		if err != nil || Verify(ck.Batch) != nil || len(rs) != int(ck.Batch.Count()) {
			t.Fatalf("accepted, then %v, %v, %d records", err, Verify(ck.Batch), len(rs))
		}
		for i, rec := range rs {
			if rec.OffsetDelta != int32(i) || compacted && rec.Key == nil {
				t.Fatalf("record %d: %+v", i, rec)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, c := range codecs {
		for _, size := range []int{100, 1024} {
			rs := make([]Record, 16<<10/size+1)
			g := rand.New(rand.NewPCG(3, 4))
			for i := range rs {
				val := make([]byte, size)
				for j := range val {
					val[j] = byte('a' + g.IntN(4))
				}
				rs[i] = Record{OffsetDelta: int32(i), Value: val}
			}
			v := build(b, meta(c), rs)
			r := rules()
			var d Decompressor
			b.Run(fmt.Sprintf("codec=%d/record=%d", c, size), func(b *testing.B) {
				b.SetBytes(int64(len(v)))
				b.ReportAllocs()
				for b.Loop() {
					if _, rej := Check(v, 1000, &r, &d); rej != nil {
						b.Fatal(rej)
					}
				}
			})
		}
	}
}
