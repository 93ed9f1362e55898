package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

// The states of a broker, with the numbers of Apache's BrokerState metric (kraft.md 5.3).
const (
	stateStarting     = 1
	stateRecovery     = 2
	stateRunning      = 3
	statePending      = 6
	stateShuttingDown = 7
)

// caller sends one request to the active controller and returns its answer.
type caller interface {
	call(ctx context.Context, req kmsg.Request) (kmsg.Response, error)
}

// lifecycle registers the broker with the controller, keeps its session and takes it out again (kraft.md
// 5.3).
type lifecycle struct {
	ctl          caller
	log          *slog.Logger
	registration func() *kmsg.BrokerRegistrationRequest
	offset       func() int64 // last offset of the published image
	failedDirs   func() []meta.UUID
	heartbeat    time.Duration
	session      time.Duration
	initial      time.Duration // initial.broker.registration.timeout.ms

	epoch   atomic.Int64
	state   atomic.Int32
	running chan struct{} // closed when first unfenced
	want    chan struct{} // closed when a shutdown is wanted
	done    chan struct{} // closed when run returned
}

func newLifecycle(ctl caller, log *slog.Logger) *lifecycle {
	l := &lifecycle{
		ctl: ctl, log: log,
		running: make(chan struct{}), want: make(chan struct{}), done: make(chan struct{}),
	}
	l.epoch.Store(-1)
	l.state.Store(stateStarting)
	return l
}

// run keeps the broker registered until ctx ends or, after shutdown, the controller lets it go.
func (l *lifecycle) run(ctx context.Context) error {
	defer close(l.done)
	if err := l.register(ctx); err != nil {
		return err
	}
	for {
		wait, over := l.beat(ctx)
		if over {
			l.state.Store(stateShuttingDown)
			return nil
		}
		if wait <= 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wantUnless(statePending):
		case <-time.After(wait):
		}
	}
}

// wantUnless is the shutdown wish, or a channel that never fires once state says that it is known.
func (l *lifecycle) wantUnless(state int32) <-chan struct{} {
	if l.state.Load() == state {
		return nil
	}
	return l.want
}

func (l *lifecycle) register(ctx context.Context) error {
	deadline := time.Now().Add(l.initial)
	for backoff := 100 * time.Millisecond; ; backoff = min(2*backoff, l.session) {
		epoch, err := l.registerOnce(ctx)
		if err == nil {
			l.epoch.Store(epoch)
			l.log.Info("registered with the controller", "brokerEpoch", epoch)
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no registration within initial.broker.registration.timeout.ms: %w", err)
		}
		l.log.Warn("registration failed, trying again", "err", err, "backoff", backoff)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.want:
			return errors.New("stopped before it was registered")
		case <-time.After(backoff):
		}
	}
}

func (l *lifecycle) registerOnce(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.session/2) // KAFKA-14392: give up before the session would
	defer cancel()
	resp, err := l.ctl.call(ctx, l.registration())
	if err != nil {
		return 0, err
	}
	r, ok := resp.(*kmsg.BrokerRegistrationResponse)
	if !ok {
		return 0, fmt.Errorf("answer of type %T", resp)
	}
	if r.ErrorCode != 0 {
		return 0, codeError("BrokerRegistration", r.ErrorCode)
	}
	return r.BrokerEpoch, nil
}

// beat sends one heartbeat and returns the pause before the next one; over says that the controller let
// the broker go.
func (l *lifecycle) beat(ctx context.Context) (wait time.Duration, over bool) {
	req := kmsg.NewPtrBrokerHeartbeatRequest()
	reg := l.registration()
	req.BrokerID, req.BrokerEpoch = reg.BrokerID, l.epoch.Load()
	req.CurrentMetadataOffset = l.offset()
	for _, d := range l.failedDirs() {
		req.OfflineLogDirs = append(req.OfflineLogDirs, d)
	}
	state := l.state.Load()
	req.WantFence = state == stateStarting
	select {
	case <-l.want:
		req.WantShutdown = true
		l.state.Store(statePending)
		state = statePending
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, l.session/2)
	defer cancel()
	resp, err := l.ctl.call(ctx, req)
	r, ok := resp.(*kmsg.BrokerHeartbeatResponse)
	if err != nil || !ok || r.ErrorCode != 0 {
		if err == nil && ok {
			err = codeError("BrokerHeartbeat", r.ErrorCode)
		}
		l.log.Warn("heartbeat failed", "err", err)
		return min(100*time.Millisecond, l.heartbeat), false
	}
	return l.onHeartbeat(state, r)
}

func (l *lifecycle) onHeartbeat(state int32, r *kmsg.BrokerHeartbeatResponse) (time.Duration, bool) {
	switch state {
	case stateStarting:
		if !r.IsCaughtUp {
			return 10 * time.Millisecond, false
		}
		l.moveTo(stateRecovery)
		return 0, false
	case stateRecovery:
		if r.IsFenced {
			return 10 * time.Millisecond, false
		}
		l.moveTo(stateRunning)
		close(l.running)
		return l.heartbeat, false
	case statePending:
		return 50 * time.Millisecond, r.ShouldShutdown
	default:
		return l.heartbeat, false
	}
}

// moveTo logs the words that test containers wait for (tools.md 4.6).
func (l *lifecycle) moveTo(state int32) {
	old := l.state.Swap(state)
	l.log.Info(fmt.Sprintf("[BrokerLifecycleManager id=%d] Transitioning from %s to %s",
		l.registration().BrokerID, stateName(old), stateName(state)))
}

func stateName(s int32) string {
	switch s {
	case stateStarting:
		return "STARTING"
	case stateRecovery:
		return "RECOVERY"
	case stateRunning:
		return "RUNNING"
	case statePending:
		return "PENDING_CONTROLLED_SHUTDOWN"
	default:
		return "SHUTTING_DOWN"
	}
}

// shutdown asks the controller to move this broker's leaderships away and waits until it did, or ctx ends.
func (l *lifecycle) shutdown(ctx context.Context) {
	select {
	case <-l.want:
	default:
		close(l.want)
	}
	select {
	case <-l.done:
	case <-ctx.Done():
	}
}
