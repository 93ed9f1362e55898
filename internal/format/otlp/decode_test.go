package otlp

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message puts fields of bytes, text or numbers together.
func message(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		n := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
		case uint64:
			b = protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), v)
		}
	}
	return b
}

func bits(v float64) uint64 { return math.Float64bits(v) }

// pushed is a MetricsData of four metrics.
func pushed() []byte {
	attr := message(1, "node_id", 2, message(1, "7"))
	gauge := message(1, "fetch.latency.avg", 2, "help", 5, message(1, message(7, attr, 4, bits(1.5))))
	sum := message(1, "records.total", 7, message(
		1, message(7, message(1, "topic", 2, message(1, "t")), 7, message(1, "n", 2, message(3, 3)), 6, uint64(12)),
		2, 1, 3, 1))
	level := message(1, "connections", 7, message(1, message(6, ^uint64(0)), 2, 2))
	hist := message(1, "size", 9, message(1, message(4, uint64(3), 5, bits(9), 9, attr), 2, 2))
	scope := message(1, message(1, "scope"), 2, gauge, 2, sum, 2, level, 2, hist)
	return message(1, message(1, message(1, attr), 2, scope))
}

func TestDecode(t *testing.T) {
	got, err := Decode(pushed(), 100)
	if err != nil {
		t.Fatal(err)
	}
	node := []Label{{"node_id", "7"}}
	want := []Point{
		{Name: "fetch.latency.avg", Labels: node, Value: 1.5},
		{Name: "records.total", Labels: []Label{{"topic", "t"}, {"n", "3"}}, Value: 12, Total: true, Delta: true},
		{Name: "connections", Value: -1},
		{Name: "size.count", Labels: node, Value: 3, Total: true},
		{Name: "size.sum", Labels: node, Value: 9, Total: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeBounds(t *testing.T) {
	if _, err := Decode(pushed(), 3); !errors.Is(err, ErrMany) {
		t.Errorf("more points than wanted: %v", err)
	}
	var labels []any
	for range maxLabels + 1 {
		labels = append(labels, 7, message(1, "a", 2, message(1, "b")))
	}
	point := message(1, message(2, message(2, message(1, "m", 5, message(1, message(labels...))))))
	if _, err := Decode(point, 3); !errors.Is(err, ErrMany) {
		t.Errorf("more labels than wanted: %v", err)
	}
}

func TestDecodeRefusesWhatIsCutOff(t *testing.T) {
	b := pushed()
	for n := 1; n < len(b); n++ {
		if _, err := Decode(b[:n], 100); err == nil {
			t.Fatalf("the first %d of %d bytes are accepted", n, len(b))
		}
	}
	if _, err := Decode([]byte{0x0b}, 1); err == nil {
		t.Error("a group is accepted")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(pushed())
	f.Fuzz(func(t *testing.T, b []byte) {
		points, err := Decode(b, 50)
		if len(points) > 50 {
			t.Errorf("%d points", len(points))
		}
		if err == nil && len(points) > len(b) {
			t.Errorf("%d points of %d bytes", len(points), len(b))
		}
	})
}
