package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/test/compat/goclients/internal/suite"
)

// member is one kgo client in the group, polling in its own goroutine.
type member struct {
	cl   *kgo.Client
	got  suite.Log
	stop context.CancelFunc
	done chan struct{}
	once sync.Once
	err  error

	mu       sync.Mutex
	assigned []int32
}

func (f *franz) member(balancer kgo.GroupBalancer) func() (suite.Member, error) {
	return func() (suite.Member, error) {
		m := &member{done: make(chan struct{})}
		cl, err := kgo.NewClient(kgo.SeedBrokers(f.Bootstrap), kgo.ConsumerGroup(f.Group), kgo.ConsumeTopics(f.Topic),
			kgo.Balancers(balancer), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
			kgo.SessionTimeout(10*time.Second), kgo.HeartbeatInterval(500*time.Millisecond), kgo.FetchMaxWait(200*time.Millisecond),
			kgo.BlockRebalanceOnPoll(), kgo.OnPartitionsAssigned(m.onAssigned), kgo.OnPartitionsRevoked(m.onGone),
			kgo.OnPartitionsLost(m.onGone))
		if err != nil {
			return nil, err
		}
		m.cl = cl
		ctx, stop := context.WithCancel(f.ctx)
		m.stop = stop
		go m.run(ctx)
		return m, nil
	}
}

func (m *member) run(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		poll, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		fetches := m.cl.PollFetches(poll)
		cancel()
		fetches.EachRecord(func(r *kgo.Record) { m.got.Add(r.Partition, string(r.Value)) })
		if fetches.NumRecords() > 0 {
			if err := m.cl.CommitUncommittedOffsets(context.WithoutCancel(ctx)); err != nil {
				m.err = err
				return
			}
		}
		m.cl.AllowRebalance()
	}
}

func (m *member) onAssigned(_ context.Context, _ *kgo.Client, add map[string][]int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ps := range add {
		m.assigned = append(m.assigned, ps...)
	}
}

func (m *member) onGone(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ps := range gone {
		m.assigned = slices.DeleteFunc(m.assigned, func(p int32) bool { return slices.Contains(ps, p) })
	}
}

// Got is what it read.
func (m *member) Got() *suite.Log { return &m.got }

// Assigned is what it holds now.
func (m *member) Assigned() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.assigned)
}

// Close leaves the group.
func (m *member) Close() error {
	m.once.Do(func() {
		m.stop()
		<-m.done
		m.cl.CloseAllowingRebalance()
	})
	return m.err
}
