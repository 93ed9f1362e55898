package broker

import (
	"errors"
	"time"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// decode reads the body. Topic names are copied, the rest is numbers.
func (q *fetch) decode(body []byte) error {
	v := q.version
	c := cursor{b: body, flex: v >= 12}
	q.replica = -1
	if v <= 14 {
		q.replica = c.i32()
	}
	q.maxWait = c.i32()
	q.minBytes = int(c.i32())
	q.maxBytes = int(c.i32())
	q.committed = c.i8() == 1
	q.epoch = replica.FinalEpoch
	if v >= 7 {
		q.sessionID = c.i32()
		q.epoch = c.i32()
	}
	for range c.count(6) {
		topic, id := q.topicOf(&c)
		for range c.count(16) {
			q.decodePart(&c, topic, id)
		}
		c.tags()
	}
	if v >= 7 {
		for range c.count(6) {
			topic, id := q.topicOf(&c)
			for range c.count(4) {
				q.forgotten = append(q.forgotten, replica.PartKey{Topic: topic, ID: id, Partition: c.i32()})
			}
			c.tags()
		}
	}
	if v >= 11 {
		c.str() // rack
	}
	c.tagged(func(tag uint64, t *cursor) {
		if tag == 1 && v >= 15 {
			q.replica = t.i32()
		}
	})
	if c.bad {
		return errCut
	}
	q.maxBytes = min(q.maxBytes, int(q.b.cfg.FetchMaxBytes))
	q.minBytes = min(q.minBytes, q.maxBytes)
	return nil
}

func (q *fetch) topicOf(c *cursor) (name string, id [16]byte) {
	if q.version >= 13 {
		return "", c.uuid()
	}
	raw := c.str()
	at := len(q.names)
	q.names = append(q.names, raw...)
	return borrow(q.names[at:]), id
}

func (q *fetch) decodePart(c *cursor, topic string, id [16]byte) {
	f := fetchPart{topic: topic, id: id, leaderEpoch: -1, lastFetched: -1, logStart: -1}
	f.n = c.i32()
	if q.version >= 9 {
		f.leaderEpoch = c.i32()
	}
	f.offset = batch.Offset(c.i64())
	if q.version >= 12 {
		f.lastFetched = c.i32()
	}
	if q.version >= 5 {
		f.logStart = batch.Offset(c.i64())
	}
	f.maxBytes = c.i32()
	c.tags()
	q.list = append(q.list, f)
}

// begin finds or makes the session (broker.md 5.6); the code is that of the whole response.
func (q *fetch) begin(now time.Time) kerr.Code {
	byID := q.version >= 13
	if q.epoch <= replica.InitialEpoch {
		if q.sessionID != 0 {
			q.b.sessions.close(q.sessionID)
		}
		q.full = true
		if q.epoch == replica.InitialEpoch && q.version >= 7 && len(q.list) > 0 {
			s := new(replica.Session)
			q.putAll(s)
			if q.b.sessions.create(now, s, byID, q.replica >= 0) {
				q.session = s
				q.fromSession()
			}
		}
		return kerr.None
	}
	s, code := q.b.sessions.begin(now, q.sessionID, q.epoch, byID)
	if code != kerr.None {
		return code
	}
	q.session = s
	q.putAll(s)
	for _, k := range q.forgotten {
		s.Forget(k)
	}
	q.fromSession()
	return kerr.None
}

func (q *fetch) putAll(s *replica.Session) {
	for i := range q.list {
		f := &q.list[i]
		s.Put(replica.Part{
			PartKey:     replica.PartKey{Topic: f.topic, ID: f.id, Partition: f.n},
			FetchOffset: f.offset, LogStart: f.logStart,
			MaxBytes: f.maxBytes, LeaderEpoch: f.leaderEpoch, LastFetched: f.lastFetched,
		})
	}
}

// fromSession makes the list what the session holds, in its order.
func (q *fetch) fromSession() {
	q.list = q.list[:0]
	for p := q.session.First(); p != nil; p = p.Next() {
		q.list = append(q.list, fetchPart{
			topic: p.Topic, id: p.ID, n: p.Partition, leaderEpoch: p.LeaderEpoch, lastFetched: p.LastFetched,
			maxBytes: p.MaxBytes, offset: p.FetchOffset, logStart: p.LogStart, part: p,
		})
	}
}

func isOutOfRange(err error) bool { return errors.Is(err, seglog.ErrOffsetOutOfRange) }
