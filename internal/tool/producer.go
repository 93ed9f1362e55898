package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/tool/opt"
)

func producerSpec() *opt.Spec {
	return &opt.Spec{
		About: "This tool helps to read data from standard input and publish it to Kafka.",
		Flags: append([]opt.Flag{
			{Name: "topic", Arity: opt.Required, Arg: "topic", Help: "REQUIRED: the topic to write to."},
			{
				Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
				Help: "REQUIRED: the brokers to ask.",
			},
			{
				Name: "broker-list", Arity: opt.Required, Arg: "host:port,...",
				Help: "The old name of --bootstrap-server.",
			},
			{Name: "sync", Help: "Wait for each record before the next one is read."},
			{
				Name: "compression-codec", Arity: opt.Optional, Arg: "codec",
				Help: "none, gzip, snappy, lz4 or zstd; gzip when the value is left out.",
			},
			{
				Name: "batch-size", Arity: opt.Required, Arg: "bytes",
				Help: "Bytes gathered into one batch (default 16384).",
			},
			{
				Name: "message-send-max-retries", Arity: opt.Required, Arg: "number",
				Help: "How often a failed send is repeated (default 3).",
			},
			{Name: "retry-backoff-ms", Arity: opt.Required, Arg: "ms", Help: "Pause before a retry (default 100)."},
			{
				Name: "timeout", Arity: opt.Required, Arg: "ms",
				Help: "How long records wait for others to share a batch (default 1000).",
			},
			{
				Name: "request-required-acks", Arity: opt.Required, Arg: "acks",
				Help: "0, 1, -1 or all: who must have a record before it counts as sent (default -1).",
			},
			{
				Name: "request-timeout-ms", Arity: opt.Required, Arg: "ms",
				Help: "How long a request may take (default 1500).",
			},
			{
				Name: "metadata-expiry-ms", Arity: opt.Required, Arg: "ms",
				Help: "Age of metadata to ask again (default 300000).",
			},
			{Name: "max-block-ms", Arity: opt.Required, Arg: "ms", Help: "How long a send may block (default 60000)."},
			{
				Name: "max-memory-bytes", Arity: opt.Required, Arg: "bytes",
				Help: "Memory for unsent records (default 33554432).",
			},
			{Name: "max-partition-memory-bytes", Arity: opt.Required, Arg: "bytes", Help: "The same as --batch-size."},
		}, producerReaderFlags()...),
	}
}

// producerReaderFlags tell how lines become records.
func producerReaderFlags() []opt.Flag {
	return []opt.Flag{
		{
			Name: "line-reader", Arity: opt.Required, Arg: "class",
			Help: "Only Apache's LineMessageReader is built in.",
		},
		{
			Name: "socket-buffer-size", Arity: opt.Required, Arg: "bytes",
			Help: "The socket's send buffer (default 102400).",
		},
		{
			Name: "reader-property", Arity: opt.Required, Arg: "name=value",
			Help: "How lines become records: parse.key, key.separator, parse.headers, headers.delimiter, " +
				"headers.separator, headers.key.separator, null.marker, ignore.error.",
		},
		{Name: "property", Arity: opt.Required, Arg: "name=value", Help: "The old name of --reader-property."},
		{Name: "reader-config", Arity: opt.Required, Arg: "file", Help: "Reader properties in a file."},
		{Name: "command-property", Arity: opt.Required, Arg: "name=value", Help: "A property of the producer."},
		{
			Name: "producer-property", Arity: opt.Required, Arg: "name=value",
			Help: "The old name of --command-property.",
		},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Producer properties in a file."},
		{Name: "producer.config", Arity: opt.Required, Arg: "file", Help: "The old name of --command-config."},
	}
}

func consoleProducer(env *Env, args []string) int {
	spec := producerSpec()
	o, err := spec.Parse(args)
	if err != nil {
		return env.usage(spec, err.Error())
	}
	if code := env.preamble(spec, o, args); code >= 0 {
		return code
	}
	err = env.produceLines(o)
	var bad *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &bad):
		return env.usage(spec, bad.text)
	}
	fmt.Fprintln(env.Err, err)
	return 1
}

func (env *Env) produceLines(o *opt.Options) error {
	if err := env.checkProducer(o); err != nil {
		return err
	}
	reader, err := readerOf(o, env.In)
	if err != nil {
		return err
	}
	p, err := producerProps(o)
	if err != nil {
		return err
	}
	s, err := newSender(p)
	if err != nil {
		return err
	}
	own, err := s.options(p, 0)
	if err != nil {
		return err
	}
	// A missing topic is waited for: the broker makes it.
	own = append(own, kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(60))
	if s.client, err = env.connect(producerClient, bootstrapOf(o), p, own...); err != nil {
		return err
	}
	defer s.client.Close()
	return env.pump(s, reader, o.Has("sync"))
}

func bootstrapOf(o *opt.Options) string {
	return strings.Join(append(append([]string(nil), o.All("bootstrap-server")...), o.All("broker-list")...),
		",")
}

func (env *Env) checkProducer(o *opt.Options) error {
	if err := o.Need("topic"); err != nil {
		return asUsage(err)
	}
	if bootstrapOf(o) == "" {
		return usagef("Error while validating the bootstrap address\n")
	}
	return env.deprecated(o, "Warning: --%s is deprecated and will be removed in a future version. Use --%s "+
		"instead.",
		"property", "reader-property", "producer-property", "command-property", "producer.config", "command-config")
}

// producerProps gathers the producer's settings: defaults, then the file, then the tool's flags, then
// properties.
func producerProps(o *opt.Options) (props, error) {
	p := make(props)
	for _, file := range either(o, "command-config", "producer.config") {
		loaded, err := loadProps(file)
		if err != nil {
			return nil, errors.New(textOf(err, ""))
		}
		p = loaded
	}
	delete(p, "bootstrap.servers")
	p.addPairs(either(o, "command-property", "producer-property"))
	flags := []struct {
		flag, key string
		def       int64
	}{
		{"retry-backoff-ms", "retry.backoff.ms", 100},
		{"timeout", "linger.ms", 1000},
		{"metadata-expiry-ms", "metadata.max.age.ms", 300000},
		{"request-timeout-ms", "request.timeout.ms", 1500},
		{"max-block-ms", "max.block.ms", 60000},
		{"max-memory-bytes", "buffer.memory", 32 << 20},
		{"batch-size", "batch.size", 16384},
		{"message-send-max-retries", "retries", 3},
		{"socket-buffer-size", "send.buffer.bytes", 102400},
	}
	for _, f := range flags {
		n, err := o.Int64(f.flag, f.def)
		if err != nil {
			return nil, err
		}
		if _, set := p[f.key]; !set || o.Has(f.flag) {
			p[f.key] = strconv.FormatInt(n, 10)
		}
	}
	if v := o.Or("max-partition-memory-bytes", ""); v != "" {
		p["batch.size"] = v
	}
	if _, set := p["acks"]; !set || o.Has("request-required-acks") {
		p["acks"] = o.Or("request-required-acks", "-1")
	}
	if o.Has("compression-codec") {
		p["compression.type"] = o.Or("compression-codec", "gzip")
	}
	if p.get("client.id", "") == "" {
		p["client.id"] = "console-producer"
	}
	return p, nil
}

// lineReader turns lines into records.
type lineReader struct {
	in                              *bufio.Reader
	topic                           string
	parseKey, parseHeaders, lenient bool
	keySep, headersDelim            string
	headersSep, headerKeySep        string
	null                            string
	hasNull                         bool
	line                            int
}

func readerOf(o *opt.Options, in io.Reader) (*lineReader, error) {
	class := o.Or("line-reader", "LineMessageReader")
	if class[strings.LastIndex(class, ".")+1:] != "LineMessageReader" {
		return nil, fmt.Errorf("java.lang.ClassNotFoundException: %s", class)
	}
	p := make(props)
	if file := o.Or("reader-config", ""); file != "" {
		var err error
		if p, err = loadProps(file); err != nil {
			return nil, errors.New(textOf(err, ""))
		}
	}
	p.addPairs(either(o, "reader-property", "property"))
	topic, err := o.One("topic")
	if err != nil {
		return nil, err
	}
	yes := func(key string) bool { return strings.EqualFold(strings.TrimSpace(p[key]), "true") }
	r := &lineReader{
		in: bufio.NewReaderSize(in, 64<<10), topic: topic,
		parseKey: yes("parse.key"), parseHeaders: yes("parse.headers"), lenient: yes("ignore.error"),
		keySep: p.get("key.separator", "\t"), headersDelim: p.get("headers.delimiter", "\t"),
		headersSep: p.get("headers.separator", ","), headerKeySep: p.get("headers.key.separator", ":"),
	}
	r.null, r.hasNull = p["null.marker"]
	if r.headersDelim == r.headersSep {
		return nil, errors.New("headers.delimiter and headers.separator may not be equal")
	}
	if r.headersSep == r.headerKeySep {
		return nil, errors.New("headers.separator and headers.key.separator may not be equal")
	}
	return r, nil
}

// next returns the next record; io.EOF at the end.
func (r *lineReader) next() (*kgo.Record, error) {
	line, err := r.in.ReadBytes('\n')
	if len(line) == 0 && err != nil {
		return nil, io.EOF
	}
	r.line++
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	rec := &kgo.Record{Topic: r.topic}
	rest := line
	if r.parseHeaders {
		head, after, ok, err := r.cut(rest, r.headersDelim, "headers delimiter")
		if err != nil {
			return nil, err
		}
		if ok && !r.isNull(head) {
			if rec.Headers, err = r.headers(head); err != nil {
				return nil, err
			}
		}
		rest = after
	}
	if r.parseKey {
		key, after, ok, err := r.cut(rest, r.keySep, "key separator")
		if err != nil {
			return nil, err
		}
		if ok && !r.isNull(key) {
			rec.Key = nonNil(key)
		}
		rest = after
	}
	if !r.isNull(rest) {
		rec.Value = nonNil(rest)
	}
	return rec, nil
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (r *lineReader) isNull(b []byte) bool { return r.hasNull && string(b) == r.null }

func (r *lineReader) cut(b []byte, sep, what string) (head, after []byte, ok bool, err error) {
	head, after, ok = bytes.Cut(b, []byte(sep))
	if ok {
		return head, after, true, nil
	}
	if r.lenient {
		return nil, b, false, nil
	}
	return nil, nil, false, fmt.Errorf("No %s found on line number %d: '%s'", what, r.line, b)
}

func (r *lineReader) headers(text []byte) ([]kgo.RecordHeader, error) {
	var all []kgo.RecordHeader
	for pair := range strings.SplitSeq(string(text), r.headersSep) {
		key, value, ok := strings.Cut(pair, r.headerKeySep)
		if !ok {
			if r.lenient {
				all = append(all, kgo.RecordHeader{Key: pair})
				continue
			}
			return nil, fmt.Errorf("No header key separator found in pair '%s' on line number %d", pair, r.line)
		}
		if r.hasNull && key == r.null {
			return nil, fmt.Errorf("Header keys should not be equal to the null marker '%s' as they can't be null",
				r.null)
		}
		h := kgo.RecordHeader{Key: key}
		if !r.hasNull || value != r.null {
			h.Value = []byte(value)
		}
		all = append(all, h)
	}
	return all, nil
}

// pump sends every line. A terminal gets a prompt.
func (env *Env) pump(s *sender, r *lineReader, sync bool) error {
	done := func(rec *kgo.Record, err error) {
		if err != nil {
			fmt.Fprintf(env.Err, "ERROR Error when sending message to topic %s with key: %s, value: %s with "+
				"error:\n%s\n",
				r.topic, sizeText(rec.Key), sizeText(rec.Value), classOf(err, "produce"))
		}
	}
	prompt := isTerminal(env.In)
	var wrong error
	for {
		if prompt {
			fmt.Fprint(env.Out, ">")
		}
		rec, err := r.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				wrong = fmt.Errorf("org.apache.kafka.common.KafkaException: %w", err)
			}
			break
		}
		if !sync {
			s.send(rec, done)
			continue
		}
		acked := make(chan struct{})
		s.send(rec, func(rec *kgo.Record, err error) {
			done(rec, err)
			close(acked)
		})
		<-acked
	}
	limit, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := s.client.Flush(limit); err != nil && wrong == nil {
		wrong = err
	}
	return wrong
}

func sizeText(b []byte) string {
	if b == nil {
		return "null"
	}
	return strconv.Itoa(len(b)) + " bytes"
}

// isTerminal says whether a person types: then a prompt is shown.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
