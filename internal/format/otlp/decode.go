package otlp

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Label is one attribute of a point.
type Label struct{ Name, Value string }

// Point is one number.
type Point struct {
	Name   string
	Labels []Label
	Value  float64
	// Total: a sum that only grows. Delta: Value is what it grew by since the last push, else all of it.
	Total, Delta bool
}

// ErrMany says that a message has more points or labels than the reader accepts.
var ErrMany = errors.New("too many metrics")

var errCut = errors.New("a field is cut off or of the wrong type")

// maxLabels bounds the labels of one point.
const maxLabels = 32

// decoder collects points up to a bound.
type decoder struct {
	most int
	out  []Point
}

// Decode reads at most most points of a MetricsData. The bytes aren't kept.
func Decode(b []byte, most int) ([]Point, error) {
	d := decoder{most: most}
	err := each(b, func(field protowire.Number, v []byte, _ uint64) error {
		if field != 1 { // resource_metrics
			return nil
		}
		return each(v, func(field protowire.Number, v []byte, _ uint64) error {
			if field != 2 { // scope_metrics
				return nil
			}
			return each(v, func(field protowire.Number, v []byte, _ uint64) error {
				if field != 2 { // metrics
					return nil
				}
				return d.metric(v)
			})
		})
	})
	return d.out, err
}

// each calls fn for every field of a message: with the bytes of a field that has a length, or the number of
// one that has none. Groups are refused.
func each(b []byte, fn func(field protowire.Number, v []byte, n uint64) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errCut
		}
		b = b[n:]
		var v []byte
		var num uint64
		switch kind {
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
			if v == nil {
				v = []byte{}
			}
		case protowire.VarintType:
			num, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			num, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var small uint32
			small, n = protowire.ConsumeFixed32(b)
			num = uint64(small)
		default:
			return fmt.Errorf("%w: wire type %d", errCut, kind)
		}
		if n < 0 {
			return errCut
		}
		b = b[n:]
		if err := fn(field, v, num); err != nil {
			return err
		}
	}
	return nil
}

// The fields of a Metric.
const (
	fieldName      = 1
	fieldGauge     = 5
	fieldSum       = 7
	fieldHistogram = 9
	temporalDelta  = 1
)

func (d *decoder) metric(b []byte) error {
	var name string
	err := each(b, func(field protowire.Number, v []byte, _ uint64) error {
		if field == fieldName {
			name = string(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(b, func(field protowire.Number, v []byte, _ uint64) error {
		switch field {
		case fieldGauge:
			return d.points(Point{Name: name}, v, d.number)
		case fieldSum:
			p := Point{Name: name}
			if err := temporality(v, &p); err != nil {
				return err
			}
			return d.points(p, v, d.number)
		case fieldHistogram:
			p := Point{Name: name, Total: true}
			if err := temporality(v, &p); err != nil {
				return err
			}
			p.Total = true
			return d.points(p, v, d.histogram)
		}
		return nil
	})
}

// temporality reads what a Sum or a Histogram says about all its points.
func temporality(b []byte, p *Point) error {
	return each(b, func(field protowire.Number, _ []byte, n uint64) error {
		switch field {
		case 2: // aggregation_temporality
			p.Delta = n == temporalDelta
		case 3: // is_monotonic
			p.Total = n != 0
		}
		return nil
	})
}

// points reads the data_points of a Gauge, Sum or Histogram.
func (d *decoder) points(p Point, b []byte, read func(p Point, b []byte) error) error {
	return each(b, func(field protowire.Number, v []byte, _ uint64) error {
		if field != 1 || v == nil {
			return nil
		}
		return read(p, v)
	})
}

func (d *decoder) put(p Point) error {
	if len(d.out) >= d.most {
		return ErrMany
	}
	d.out = append(d.out, p)
	return nil
}

// number reads a NumberDataPoint.
func (d *decoder) number(p Point, b []byte) error {
	err := each(b, func(field protowire.Number, v []byte, n uint64) error {
		switch field {
		case 7:
			return p.label(v)
		case 4: // as_double
			p.Value = math.Float64frombits(n)
		case 6: // as_int
			p.Value = float64(int64(n))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.put(p)
}

// histogram reads a HistogramDataPoint.
func (d *decoder) histogram(p Point, b []byte) error {
	count, sum := p, p
	count.Name, sum.Name = p.Name+".count", p.Name+".sum"
	err := each(b, func(field protowire.Number, v []byte, n uint64) error {
		switch field {
		case 9:
			return p.label(v)
		case 4:
			count.Value = float64(n)
		case 5:
			sum.Value = math.Float64frombits(n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	count.Labels, sum.Labels = p.Labels, p.Labels
	if err := d.put(count); err != nil {
		return err
	}
	return d.put(sum)
}

// label reads a KeyValue. Values that are neither text nor a number nor a bool become empty.
func (p *Point) label(b []byte) error {
	var l Label
	err := each(b, func(field protowire.Number, v []byte, _ uint64) error {
		switch field {
		case 1:
			l.Name = string(v)
		case 2:
			text, err := anyValue(v)
			l.Value = text
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(p.Labels) >= maxLabels {
		return ErrMany
	}
	p.Labels = append(p.Labels, l)
	return nil
}

func anyValue(b []byte) (text string, err error) {
	err = each(b, func(field protowire.Number, v []byte, n uint64) error {
		switch field {
		case 1:
			text = string(v)
		case 2:
			text = strconv.FormatBool(n != 0)
		case 3:
			text = strconv.FormatInt(int64(n), 10)
		case 4:
			text = strconv.FormatFloat(math.Float64frombits(n), 'g', -1, 64)
		}
		return nil
	})
	return text, err
}
