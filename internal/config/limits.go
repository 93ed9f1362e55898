package config

import (
	"fmt"
	"strconv"
	"strings"
)

// retention checks the families of keys of which the finest unit that is set wins.
func (l *loader) retention() {
	for _, f := range []struct {
		topic, name string
		least       int64
		forever     bool // any negative time
		reason      string
	}{
		{"retention.ms", "log.retention.ms", 1, true, "must be unlimited (-1) or, greater than or equal to 1"},
		{"segment.ms", "log.roll.ms", 1, false, "must be greater than or equal to 1"},
		{"segment.jitter.ms", "log.roll.jitter.ms", 0, false, "must be greater than or equal to 0"},
	} {
		k := TopicKey(f.topic)
		set, value := l.synonym(l.Scope, k)
		n, _ := strconv.ParseInt(value, 10, 64)
		if n < f.least && !(f.forever && n < 0) {
			l.fail(set, f.name+" "+f.reason)
		}
	}
}

// limits checks rules between two keys.
func (l *loader) limits() {
	idle := l.Int64("connections.max.idle.ms")
	queued := l.Int64("queued.max.request.bytes")
	threads := max(l.Int64("log.cleaner.threads"), 1)
	for _, r := range []struct {
		bad         bool
		key, reason string
	}{
		{
			l.Int64("connection.failed.authentication.delay.ms") >= idle && idle >= 0,
			"connection.failed.authentication.delay.ms",
			fmt.Sprintf("should always be less than connections.max.idle.ms=%d to prevent failed authentication "+
				"responses from timing out", idle),
		},
		{
			queued > 0 && queued < l.Int64("socket.request.max.bytes"),
			"queued.max.request.bytes", "must be larger or equal to socket.request.max.bytes",
		},
		{
			l.Int64("log.cleaner.dedupe.buffer.size")/threads <= 1<<20,
			"log.cleaner.dedupe.buffer.size", "must be at least 1MB per cleaner thread.",
		},
		{
			l.Int64("replica.fetch.wait.max.ms") > l.Int64("replica.socket.timeout.ms"),
			"replica.socket.timeout.ms", "should always be at least replica.fetch.wait.max.ms to prevent " +
				"unnecessary " +
				"socket timeouts",
		},
		{
			l.Int64("replica.fetch.wait.max.ms") > l.Int64("replica.lag.time.max.ms"),
			"replica.fetch.wait.max.ms", "should always be less than or equal to replica.lag.time.max.ms to prevent " +
				"frequent changes in ISR",
		},
		{
			l.Int("max.connections.per.ip") == 0 && l.String("max.connections.per.ip.overrides") == "",
			"max.connections.per.ip", "can be set to zero only if max.connections.per.ip.overrides property is set.",
		},
		{
			l.Int("offsets.topic.compression.codec") < 0 || l.Int("offsets.topic.compression.codec") > 4,
			"offsets.topic.compression.codec", "Unknown compression type id",
		},
		{
			l.Int64("group.min.session.timeout.ms") > l.Int64("group.max.session.timeout.ms"),
			"group.max.session.timeout.ms", "must not be less than group.min.session.timeout.ms",
		},
		{
			!strings.Contains(","+strings.Join(l.List("group.coordinator.rebalance.protocols"), ",")+",", ",classic,"),
			"group.coordinator.rebalance.protocols", "Disabling the 'classic' protocol is not supported.",
		},
		{
			l.Int64("log.cleaner.min.compaction.lag.ms") > l.Int64("log.cleaner.max.compaction.lag.ms"),
			"log.cleaner.min.compaction.lag.ms", "must not be more than log.cleaner.max.compaction.lag.ms",
		},
	} {
		if r.bad {
			l.fail(r.key, r.reason)
		}
	}
	for _, name := range l.List("group.consumer.assignors") {
		if AssignorName(name) == "" {
			l.fail("group.consumer.assignors", name+" is not an assignor: uniform and range are")
		}
	}
	if _, err := ParseIPOverrides(l.String("max.connections.per.ip.overrides")); err != nil {
		l.fail("max.connections.per.ip.overrides", err.Error())
	}
}

// AssignorName is the short name of a server-side assignor of consumer groups, which may also be told by
// Apache's class; empty if there is no such assignor.
func AssignorName(s string) string {
	switch s {
	case "uniform", "org.apache.kafka.coordinator.group.assignor.UniformAssignor":
		return "uniform"
	case "range", "org.apache.kafka.coordinator.group.assignor.RangeAssignor":
		return "range"
	}
	return ""
}

// bounds checks keys of groups that have a smallest and a largest allowed value in two other keys.
func (l *loader) bounds() {
	for _, kind := range []struct {
		prefix string
		names  []string
	}{
		{"group.consumer.", []string{"session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms"}},
		{"group.streams.", []string{"session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms"}},
		{"group.share.", []string{
			"session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms",
			"delivery.count.limit", "record.lock.duration.ms", "partition.max.record.locks",
		}},
	} {
		for _, name := range kind.names {
			key, lo, hi := kind.prefix+name, kind.prefix+"min."+name, kind.prefix+"max."+name
			switch n := l.Int64(key); {
			case l.Int64(hi) < l.Int64(lo):
				l.fail(hi, "must be greater than or equal to "+lo)
			case n < l.Int64(lo):
				l.fail(key, "must be greater than or equal to "+lo)
			case n > l.Int64(hi):
				l.fail(key, "must be less than or equal to "+hi)
			}
		}
		beat, session := kind.prefix+"heartbeat.interval.ms", kind.prefix+"session.timeout.ms"
		if l.Int64(beat) >= l.Int64(session) {
			l.fail(beat, "must be less than "+session)
		}
	}
}

// IPLimit is one entry of max.connections.per.ip.overrides.
type IPLimit struct {
	Host string // a name or an address
	Max  int
}

// ParseIPOverrides reads host:count pairs.
func ParseIPOverrides(s string) ([]IPLimit, error) {
	var list []IPLimit
	for _, e := range parseList(s) {
		at := strings.LastIndexByte(e, ':')
		n, err := strconv.ParseUint(e[at+1:], 10, 31)
		if at < 1 || err != nil {
			return nil, fmt.Errorf("%s: host:count is expected", e)
		}
		list = append(list, IPLimit{strings.Trim(e[:at], "[]"), int(n)})
	}
	return list, nil
}
