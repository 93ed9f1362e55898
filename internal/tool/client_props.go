package tool

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// mapProps turns settings into the client's options. Settings that cannot act are named in one warning.
func (env *Env) mapProps(k kind, p props) ([]kgo.Opt, error) {
	keys := make([]string, 0, len(p))
	for key := range p {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var opts []kgo.Opt
	var idle []string
	for _, key := range keys {
		o, known, err := p.common(key)
		if err == nil && !known && k == producerClient {
			o, known, err = p.producer(key)
		}
		if err == nil && !known && k == consumerClient {
			o, known, err = p.consumer(key)
		}
		switch {
		case err != nil:
			return nil, err
		case !known:
			idle = append(idle, key)
		case o != nil:
			opts = append(opts, o)
		}
	}
	if k == producerClient && (p["acks"] == "0" || p["acks"] == "1") && p["enable.idempotence"] != "false" {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	if len(idle) > 0 {
		fmt.Fprintf(env.Err, "WARN These configurations do nothing here: %s\n", strings.Join(idle, ", "))
	}
	return opts, nil
}

// duration maps a key in milliseconds.
func duration[O kgo.Opt](p props, key string, make func(time.Duration) O) (kgo.Opt, bool, error) {
	d, err := p.millis(key, 0)
	if err != nil {
		return nil, true, err
	}
	return make(d), true, nil
}

// number maps a key that is a whole number of at most 32 bits.
func number[O kgo.Opt](p props, key string, make func(int32) O) (kgo.Opt, bool, error) {
	n, err := p.number(key, 0)
	if err == nil && n != int64(int32(n)) {
		err = fmt.Errorf("Invalid value %s for configuration %s: Not a number of type INT", p[key], key)
	}
	if err != nil {
		return nil, true, err
	}
	return make(int32(n)), true, nil
}

// common maps the keys that every client has. Keys that something else reads are known but give no option.
func (p props) common(key string) (o kgo.Opt, known bool, err error) {
	switch key {
	case "client.id":
		return kgo.ClientID(p[key]), true, nil
	case "metadata.max.age.ms":
		return duration(p, key, func(d time.Duration) kgo.Opt {
			return kgo.MetadataMaxAge(max(d, 3*time.Second))
		})
	case "connections.max.idle.ms":
		return duration(p, key, func(d time.Duration) kgo.Opt { return kgo.ConnIdleTimeout(max(d, 2*time.Second)) })
	case "socket.connection.setup.timeout.ms":
		return duration(p, key, kgo.DialTimeout)
	case "request.timeout.ms":
		return duration(p, key, func(d time.Duration) kgo.Opt {
			return kgo.RequestTimeoutOverhead(min(max(d, 100*time.Millisecond), 15*time.Minute))
		})
	case "bootstrap.servers", "security.protocol", "default.api.timeout.ms", "retry.backoff.ms",
		"retry.backoff.max.ms", "send.buffer.bytes", "receive.buffer.bytes":
		return nil, true, nil // connect reads them
	}
	return nil, strings.HasPrefix(key, "ssl.") || strings.HasPrefix(key, "sasl."), nil
}

// producer maps the keys that a producer has on top.
func (p props) producer(key string) (o kgo.Opt, known bool, err error) {
	v := p[key]
	switch key {
	case "acks":
		return p.acks(v)
	case "compression.type":
		codec, err := codecOf(v)
		return kgo.ProducerBatchCompression(codec), true, err
	case "enable.idempotence":
		on, err := p.truth(key, true)
		if err != nil || on {
			return nil, true, err
		}
		return kgo.DisableIdempotentWrite(), true, nil
	case "transactional.id":
		return kgo.TransactionalID(v), true, nil
	case "max.in.flight.requests.per.connection":
		return number(p, key,
			func(n int32) kgo.ProducerOpt { return kgo.MaxProduceRequestsInflightPerBroker(int(n)) })
	case "batch.size":
		return number(p, key, func(n int32) kgo.ProducerOpt { return kgo.ProducerBatchMaxBytes(max(n, 1024)) })
	case "buffer.memory":
		return number(p, key, func(n int32) kgo.ProducerOpt { return kgo.MaxBufferedBytes(int(n)) })
	case "retries":
		return number(p, key, func(n int32) kgo.ProducerOpt { return kgo.RecordRetries(int(n)) })
	case "linger.ms":
		return duration(p, key, kgo.ProducerLinger)
	case "delivery.timeout.ms":
		return duration(p, key, kgo.RecordDeliveryTimeout)
	case "transaction.timeout.ms":
		return duration(p, key, kgo.TransactionTimeout)
	case "max.block.ms", "max.request.size":
		return nil, true, nil // sender reads them
	case "key.serializer", "value.serializer":
		return nil, isOne(v, "StringSerializer", "ByteArraySerializer"), nil // what is sent are the line's bytes
	}
	return nil, false, nil
}

// acks maps acks. mapProps switches idempotence off for all but acks=all, since the client would refuse the
// mix.
func (p props) acks(v string) (kgo.Opt, bool, error) {
	switch v {
	case "0":
		return kgo.RequiredAcks(kgo.NoAck()), true, nil
	case "1":
		return kgo.RequiredAcks(kgo.LeaderAck()), true, nil
	case "all", "-1":
		return kgo.RequiredAcks(kgo.AllISRAcks()), true, nil
	}
	return nil, true, oneOf("acks", v, "all", "-1", "0", "1")
}

func codecOf(name string) (kgo.CompressionCodec, error) {
	switch name {
	case "none", "":
		return kgo.NoCompression(), nil
	case "gzip":
		return kgo.GzipCompression(), nil
	case "snappy":
		return kgo.SnappyCompression(), nil
	case "lz4":
		return kgo.Lz4Compression(), nil
	case "zstd":
		return kgo.ZstdCompression(), nil
	}
	return kgo.NoCompression(), oneOf("compression.type", name, "none", "gzip", "snappy", "lz4", "zstd")
}

// consumer maps the keys that a consumer has on top.
func (p props) consumer(key string) (o kgo.Opt, known bool, err error) {
	switch key {
	case "isolation.level":
		if err := oneOf(key, p[key], "read_committed", "read_uncommitted"); err != nil {
			return nil, true, err
		}
		if p[key] == "read_committed" {
			return kgo.FetchIsolationLevel(kgo.ReadCommitted()), true, nil
		}
		return kgo.FetchIsolationLevel(kgo.ReadUncommitted()), true, nil
	case "fetch.max.wait.ms":
		return duration(p, key, kgo.FetchMaxWait)
	case "fetch.min.bytes":
		return number(p, key, kgo.FetchMinBytes)
	case "fetch.max.bytes":
		return number(p, key, kgo.FetchMaxBytes)
	case "max.partition.fetch.bytes":
		return number(p, key, kgo.FetchMaxPartitionBytes)
	case "client.rack":
		return kgo.Rack(p[key]), true, nil
	case "check.crcs":
		on, err := p.truth(key, true)
		if err != nil || on {
			return nil, true, err
		}
		return kgo.DisableFetchCRCValidation(), true, nil
	case "group.id", "auto.offset.reset", "enable.auto.commit", "auto.commit.interval.ms", "session.timeout.ms",
		"heartbeat.interval.ms", "max.poll.interval.ms", "group.instance.id", "partition.assignment.strategy",
		"max.poll.records", "allow.auto.create.topics":
		return nil, true, nil // groupOpts and the tools read them
	case "group.protocol":
		return nil, strings.EqualFold(p[key], "classic"), nil // the client speaks no other
	case "exclude.internal.topics":
		return nil, p[key] == "true", nil
	case "key.deserializer", "value.deserializer":
		return nil, isOne(p[key], "StringDeserializer", "ByteArrayDeserializer"), nil // formatters decode
	}
	return nil, false, nil
}

// isOne says whether a class, its package left out, is among the names.
func isOne(class string, names ...string) bool {
	return slices.Contains(names, class[strings.LastIndex(class, ".")+1:])
}

// groupOpts maps the keys that only act for a consumer in a group: the client refuses them without one.
func (p props) groupOpts(group string) ([]kgo.Opt, error) {
	opts := []kgo.Opt{kgo.ConsumerGroup(group)}
	for key := range p {
		var o kgo.Opt
		var err error
		switch key {
		case "auto.commit.interval.ms":
			o, _, err = duration(p, key, func(d time.Duration) kgo.GroupOpt {
				return kgo.AutoCommitInterval(max(d, 100*time.Millisecond))
			})
		case "session.timeout.ms":
			o, _, err = duration(p, key, kgo.SessionTimeout)
		case "heartbeat.interval.ms":
			o, _, err = duration(p, key, kgo.HeartbeatInterval)
		case "max.poll.interval.ms":
			o, _, err = duration(p, key, kgo.RebalanceTimeout)
		case "group.instance.id":
			o = kgo.InstanceID(p[key])
		case "partition.assignment.strategy":
			o, err = balancersOf(p[key])
		}
		if err != nil {
			return nil, err
		}
		if o != nil {
			opts = append(opts, o)
		}
	}
	return opts, nil
}

// balancersOf maps Apache's assignor class names.
func balancersOf(list string) (kgo.Opt, error) {
	var all []kgo.GroupBalancer
	for class := range strings.SplitSeq(list, ",") {
		class = strings.TrimSpace(class)
		switch class[strings.LastIndex(class, ".")+1:] {
		case "RangeAssignor", "range":
			all = append(all, kgo.RangeBalancer())
		case "RoundRobinAssignor", "roundrobin":
			all = append(all, kgo.RoundRobinBalancer())
		case "StickyAssignor", "sticky":
			all = append(all, kgo.StickyBalancer())
		case "CooperativeStickyAssignor", "cooperative-sticky":
			all = append(all, kgo.CooperativeStickyBalancer())
		default:
			return nil, fmt.Errorf("Invalid value %s for configuration partition.assignment.strategy: "+
				"Class %s could not be found.", list, class)
		}
	}
	return kgo.Balancers(all...), nil
}
