package main

import (
	"context"
	"errors"
	"sync"

	"github.com/IBM/sarama"

	"github.com/kalda/kalda/test/compat/goclients/internal/suite"
)

// member is one sarama consumer group client, consuming in its own goroutine.
type member struct {
	topic string
	group sarama.ConsumerGroup
	got   suite.Log
	stop  context.CancelFunc
	done  chan struct{}
	once  sync.Once
	err   error

	mu       sync.Mutex
	assigned []int32
}

func (c *client) member() (suite.Member, error) {
	g, err := sarama.NewConsumerGroup([]string{c.Bootstrap}, c.Group, config())
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &member{topic: c.Topic, group: g, stop: stop, done: make(chan struct{})}
	go m.run(ctx)
	return m, nil
}

func (m *member) run(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		if err := m.group.Consume(ctx, []string{m.topic}, m); err != nil && ctx.Err() == nil && !errors.Is(err, sarama.ErrClosedConsumerGroup) {
			m.err = err
			return
		}
	}
}

// Setup is called at the start of a session.
func (m *member) Setup(s sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.assigned = sorted(s.Claims()[m.topic])
	return nil
}

// Cleanup is called at its end.
func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.assigned = nil
	return nil
}

// ConsumeClaim reads one partition until the session ends. What is marked is committed a little later, and when the session ends.
func (m *member) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case r, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			m.got.Add(r.Partition, string(r.Value))
			s.MarkMessage(r, "")
		case <-s.Context().Done():
			return nil
		}
	}
}

// Got is what it read.
func (m *member) Got() *suite.Log { return &m.got }

// Assigned is what it holds now.
func (m *member) Assigned() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.assigned
}

// Close leaves the group.
func (m *member) Close() error {
	m.once.Do(func() {
		m.stop()
		<-m.done
		m.err = errors.Join(m.err, m.group.Close())
	})
	return m.err
}
