package tool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/tool/layout"
	"github.com/kalda/kalda/internal/tool/opt"
)

// formatter prints records.
type formatter interface {
	write(w io.Writer, r *kgo.Record) error
}

// formatterOf picks the formatter by Apache's class name, the package left out.
func formatterOf(o *opt.Options) (formatter, error) {
	p := make(props)
	if file := o.Or("formatter-config", ""); file != "" {
		var err error
		if p, err = loadProps(file); err != nil {
			return nil, errors.New(textOf(err, ""))
		}
	}
	p.addPairs(either(o, "formatter-property", "property"))
	for _, side := range []string{"key", "value"} {
		if class := o.Or(side+"-deserializer", ""); class != "" {
			p[side+".deserializer"] = class
		}
	}
	class := o.Or("formatter", "DefaultMessageFormatter")
	switch class[strings.LastIndexAny(class, ".$")+1:] {
	case "DefaultMessageFormatter":
		return newTextFormatter(p)
	case "LoggingMessageFormatter":
		text, err := newTextFormatter(p)
		return text, err
	case "NoOpMessageFormatter":
		return silent{}, nil
	case "OffsetsMessageFormatter":
		return coordinatorFormatter{keys: []int16{0, 1}}, nil
	case "GroupMetadataMessageFormatter":
		return coordinatorFormatter{keys: []int16{2}}, nil
	}
	return nil, usagef("%s", class)
}

// silent prints nothing.
type silent struct{}

func (silent) write(io.Writer, *kgo.Record) error { return nil }

// decoder turns bytes into text.
type decoder func([]byte) (string, error)

// textFormatter is the default one.
type textFormatter struct {
	timestamp, key, value, offset, partition, headers, epoch, delivery bool
	keySep, lineSep, headersSep, null                                  string
	keyDecoder, valueDecoder, headersDecoder                           decoder
	buf                                                                []byte
}

func newTextFormatter(p props) (*textFormatter, error) {
	yes := func(key, def string) bool { return strings.EqualFold(strings.TrimSpace(p.get(key, def)), "true") }
	f := &textFormatter{
		timestamp: yes("print.timestamp", ""), key: yes("print.key", ""), value: yes("print.value", "true"),
		offset: yes("print.offset", ""), partition: yes("print.partition", ""), headers: yes("print.headers", ""),
		epoch: yes("print.epoch", ""), delivery: yes("print.delivery", ""),
		keySep: p.get("key.separator", "\t"), lineSep: p.get("line.separator", "\n"),
		headersSep: p.get("headers.separator", ","), null: p.get("null.literal", "null"),
	}
	var err error
	for _, d := range []struct {
		key string
		to  *decoder
	}{
		{"key.deserializer", &f.keyDecoder},
		{"value.deserializer", &f.valueDecoder},
		{"headers.deserializer", &f.headersDecoder},
	} {
		if *d.to, err = decoderOf(p[d.key]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *textFormatter) write(w io.Writer, r *kgo.Record) error {
	b := f.buf[:0]
	sep := func(more bool) {
		if more {
			b = append(b, f.keySep...)
		} else {
			b = append(b, f.lineSep...)
		}
	}
	if f.timestamp {
		b = appendTimestamp(b, r)
		sep(f.partition || f.offset || f.delivery || f.epoch || f.headers || f.key || f.value)
	}
	if f.partition {
		b = strconv.AppendInt(append(b, "Partition:"...), int64(r.Partition), 10)
		sep(f.offset || f.delivery || f.epoch || f.headers || f.key || f.value)
	}
	if f.offset {
		b = strconv.AppendInt(append(b, "Offset:"...), r.Offset, 10)
		sep(f.delivery || f.epoch || f.headers || f.key || f.value)
	}
	if f.delivery {
		b = append(b, "Delivery:NOT_PRESENT"...)
		sep(f.epoch || f.headers || f.key || f.value)
	}
	if f.epoch {
		b = append(b, "Epoch:NOT_PRESENT"...)
		sep(f.headers || f.key || f.value)
	}
	var err error
	if f.headers {
		if b, err = f.appendHeaders(b, r.Headers); err != nil {
			return err
		}
		sep(f.key || f.value)
	}
	if f.key {
		if b, err = f.append(b, f.keyDecoder, r.Key); err != nil {
			return err
		}
		sep(f.value)
	}
	if f.value {
		if b, err = f.append(b, f.valueDecoder, r.Value); err != nil {
			return err
		}
		b = append(b, f.lineSep...)
	}
	f.buf = b
	_, err = w.Write(b)
	return err
}

func appendTimestamp(b []byte, r *kgo.Record) []byte {
	switch r.Attrs.TimestampType() {
	case 0:
		b = append(b, "CreateTime:"...)
	case 1:
		b = append(b, "LogAppendTime:"...)
	default:
		return append(b, "NO_TIMESTAMP"...)
	}
	return strconv.AppendInt(b, r.Timestamp.UnixMilli(), 10)
}

func (f *textFormatter) appendHeaders(b []byte, headers []kgo.RecordHeader) ([]byte, error) {
	if len(headers) == 0 {
		return append(b, "NO_HEADERS"...), nil
	}
	var err error
	for i, h := range headers {
		if i > 0 {
			b = append(b, f.headersSep...)
		}
		b = append(append(b, h.Key...), ':')
		if b, err = f.append(b, f.headersDecoder, h.Value); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (f *textFormatter) append(b []byte, d decoder, data []byte) ([]byte, error) {
	if data == nil {
		return append(b, f.null...), nil
	}
	if d == nil {
		return append(b, data...), nil
	}
	text, err := d(data)
	return append(b, text...), err
}

// decoderOf knows Apache's deserializers by class name; nil prints the bytes as they are.
func decoderOf(class string) (decoder, error) {
	if class == "" {
		return nil, nil
	}
	name := class[strings.LastIndexAny(class, ".$")+1:]
	sized := func(size int, show func([]byte) string) decoder {
		return func(b []byte) (string, error) {
			if len(b) != size {
				return "", fmt.Errorf("Size of data received by %s is not %d", name, size)
			}
			return show(b), nil
		}
	}
	switch name {
	case "StringDeserializer":
		return func(b []byte) (string, error) {
			if utf8.Valid(b) {
				return string(b), nil
			}
			return strings.ToValidUTF8(string(b), "\uFFFD"), nil
		}, nil
	case "ByteArrayDeserializer", "BytesDeserializer", "ByteBufferDeserializer":
		return nil, nil
	case "LongDeserializer":
		return sized(8, func(b []byte) string { return strconv.FormatInt(int64(binary.BigEndian.Uint64(b)), 10) }),
			nil
	case "IntegerDeserializer":
		return sized(4, func(b []byte) string { return strconv.Itoa(int(int32(binary.BigEndian.Uint32(b)))) }), nil
	case "ShortDeserializer":
		return sized(2, func(b []byte) string { return strconv.Itoa(int(int16(binary.BigEndian.Uint16(b)))) }), nil
	case "DoubleDeserializer":
		return sized(8, func(b []byte) string {
			return javaDouble(math.Float64frombits(binary.BigEndian.Uint64(b)), 64)
		}), nil
	case "FloatDeserializer":
		return sized(4, func(b []byte) string {
			return javaDouble(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32)
		}), nil
	case "BooleanDeserializer":
		return sized(1, func(b []byte) string { return strconv.FormatBool(b[0] == 1) }), nil
	case "UUIDDeserializer":
		return func(b []byte) (string, error) { return string(b), nil }, nil
	}
	return nil, fmt.Errorf("java.lang.ClassNotFoundException: %s", class)
}

// javaDouble prints a number as Java does.
func javaDouble(v float64, bits int) string { return layout.Float(v, bits) }
