package broker

import (
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

// autoCreateWait bounds how long a request waits for a topic that it caused to be made. Past it the client
// is told that the topic isn't there yet, as Apache tells at once, and asks again.
const autoCreateWait = time.Second

// creations are the topics that are being made on somebody's demand, each with those who wait for it.
type creations struct {
	mu     sync.Mutex
	topics map[string][]func()
}

// join adds a waiter to each topic and returns the topics that nobody is making yet.
func (c *creations) join(topics []string, waiter func()) (fresh []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.topics == nil {
		c.topics = map[string][]func(){}
	}
	for _, t := range topics {
		waiters, underway := c.topics[t]
		if !underway {
			fresh = append(fresh, t)
		}
		c.topics[t] = append(waiters, waiter)
	}
	return fresh
}

// made takes topics out and calls those who wait for them.
func (c *creations) made(topics []string) {
	var waiters []func()
	c.mu.Lock()
	for _, t := range topics {
		waiters = append(waiters, c.topics[t]...)
		delete(c.topics, t)
	}
	c.mu.Unlock()
	for _, w := range waiters {
		w()
	}
}

// autoCreate has the controller make topics that clients or coordinators want. It calls done once, on any
// goroutine: when all of them were made or refused, or after autoCreateWait. A topic that is being made
// already isn't asked for again.
func (b *Broker) autoCreate(topics []string, from Origin, done func()) {
	var once sync.Once
	timer := time.AfterFunc(autoCreateWait, func() { once.Do(done) })
	var mu sync.Mutex
	left := len(topics)
	fresh := b.creating.join(topics, func() {
		mu.Lock()
		left--
		last := left == 0
		mu.Unlock()
		if last {
			timer.Stop()
			once.Do(done)
		}
	})
	if len(fresh) == 0 {
		return
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(7)
	req.TimeoutMillis = 30_000
	live := liveBrokers(b.Image())
	for _, name := range fresh {
		req.Topics = append(req.Topics, b.newTopic(name, live))
	}
	b.cfg.Forward.Forward(req, from, func(kmsg.Response) { b.creating.made(fresh) })
}

func liveBrokers(img *meta.Image) int {
	n := 0
	for k := range img.Brokers() {
		if k.Active() {
			n++
		}
	}
	return n
}

// newTopic is a topic made on demand. A coordinator's topic takes as many replicas as there are brokers, if
// fewer than configured: a first node has to work before the others come.
func (b *Broker) newTopic(name string, live int) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, b.cfg.DefaultPartitions, b.cfg.DefaultReplication
	set := func(key, value string) {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = key, &value
		t.Configs = append(t.Configs, c)
	}
	segment := func(key string) {
		if b.cfg.Node != nil {
			set("segment.bytes", strconv.Itoa(b.cfg.Node.Int(key)))
		}
	}
	switch name {
	case offsetsTopic:
		t.NumPartitions, t.ReplicationFactor = b.cfg.OffsetsPartitions, fits(b.cfg.OffsetsReplication, live)
		set("cleanup.policy", "compact")
		set("compression.type", "producer")
		segment("offsets.topic.segment.bytes")
	case transactionsTopic:
		replicas := 3
		if b.cfg.Node != nil {
			replicas = b.cfg.Node.Int("transaction.state.log.replication.factor")
			least := min(b.cfg.Node.Int("transaction.state.log.min.isr"), max(live, 1))
			set("min.insync.replicas", strconv.Itoa(least))
		}
		t.NumPartitions, t.ReplicationFactor = b.cfg.TransactionPartitions, fits(int16(replicas), live)
		set("cleanup.policy", "compact")
		set("compression.type", "uncompressed")
		set("unclean.leader.election.enable", "false")
		segment("transaction.state.log.segment.bytes")
	}
	return t
}

func fits(replicas int16, live int) int16 { return int16(max(min(int(replicas), live), 1)) }
