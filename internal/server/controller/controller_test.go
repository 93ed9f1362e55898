package controller_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/server/controller"
	"github.com/kalda/kalda/internal/server/quorum"
)

// log is a quorum of one in memory. Appended batches commit when commit is called.
type log struct {
	c       *controller.Controller
	now     time.Time
	epoch   int32
	leading bool
	batches []quorum.Batch
	applied int
	next    int64
}

func (l *log) Submit(fn func(w quorum.Writer)) error { fn(l); return nil }
func (l *log) Leader() (quorum.NodeID, int32)        { return 1, l.epoch }
func (l *log) Now() time.Time                        { return l.now }
func (l *log) Epoch() int32                          { return l.epoch }
func (l *log) Leading() bool                         { return l.leading }
func (l *log) EndOffset() int64                      { return l.next }
func (l *log) HighWatermark() int64                  { return l.next }
func (l *log) Resign()                               { l.leading = false }

func (l *log) Append(records [][]byte) (int64, error) {
	if !l.leading {
		return 0, quorum.ErrNotLeader
	}
	b := quorum.Batch{
		Base: l.next, Last: l.next + int64(len(records)) - 1, Epoch: l.epoch,
		AppendTime: l.now.UnixMilli(), Records: records,
	}
	l.batches = append(l.batches, b)
	l.next = b.Last + 1
	return b.Last, nil
}

func (l *log) commit() {
	for ; l.applied < len(l.batches); l.applied++ {
		l.c.Apply(l.batches[l.applied])
	}
}

func (l *log) lead() {
	l.epoch++
	l.next++ // the leader change record
	l.leading = true
	l.c.Lead(l)
}

type fixture struct {
	*log
	t         *testing.T
	published []*meta.Image
}

const clusterID = "MkU3OEVBNTcwNTJENDM2Qg"

func newFixture(t *testing.T) *fixture {
	f := &fixture{log: &log{now: time.UnixMilli(1000)}, t: t}
	f.c = f.controller()
	f.lead()
	f.commit()
	return f
}

func (f *fixture) controller() *controller.Controller {
	c := controller.New(controller.Config{
		NodeID: 1, ClusterID: clusterID, Broker: true, Alone: true, Rand: rand.New(rand.NewPCG(1, 2)),
	}, func(img *meta.Image, _ *meta.Delta) { f.published = append(f.published, img) })
	c.Attach(f.log)
	return c
}

// do sends a request, commits, and gives the answer.
func do[R kmsg.Response](f *fixture, req kmsg.Request) R {
	f.t.Helper()
	req.SetVersion(req.MaxVersion())
	var got kmsg.Response
	f.c.Handle(req, controller.Origin{}, func(r kmsg.Response) { got = r })
	f.commit()
	if got == nil {
		f.t.Fatalf("%T: no answer", req)
	}
	return got.(R)
}

func (f *fixture) register(id int32, incarnation byte) int64 {
	f.t.Helper()
	r := do[*kmsg.BrokerRegistrationResponse](f, registration(id, incarnation))
	if r.ErrorCode != 0 {
		f.t.Fatal("register", id, kerr.Code(r.ErrorCode))
	}
	return r.BrokerEpoch
}

func registration(id int32, incarnation byte) *kmsg.BrokerRegistrationRequest {
	req := kmsg.NewPtrBrokerRegistrationRequest()
	req.BrokerID, req.ClusterID, req.IncarnationID = id, clusterID, [16]byte{incarnation}
	req.LogDirs = [][16]byte{{byte(id), 7}}
	for name, r := range meta.Supported() {
		f := kmsg.NewBrokerRegistrationRequestFeature()
		f.Name, f.MinSupportedVersion, f.MaxSupportedVersion = name, r.Min, r.Max
		req.Features = append(req.Features, f)
	}
	return req
}

func (f *fixture) beat(id int32, epoch int64, shutDown bool) *kmsg.BrokerHeartbeatResponse {
	f.t.Helper()
	req := kmsg.NewPtrBrokerHeartbeatRequest()
	req.BrokerID, req.BrokerEpoch, req.WantShutdown = id, epoch, shutDown
	req.CurrentMetadataOffset = f.c.Image().Offset
	r := do[*kmsg.BrokerHeartbeatResponse](f, req)
	if r.ErrorCode != 0 {
		f.t.Fatal("heartbeat", id, kerr.Code(r.ErrorCode))
	}
	return r
}

func (f *fixture) create(name string, partitions int32, rf int16) kmsg.CreateTopicsResponseTopic {
	f.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, rf
	req.Topics = append(req.Topics, t)
	return do[*kmsg.CreateTopicsResponse](f, req).Topics[0]
}

func TestFirstRecordsAreApaches(t *testing.T) {
	f := newFixture(t)
	want := meta.BootstrapRecords(meta.DefaultFeatures(meta.LatestMetadataVersion))
	got := f.batches[0].Records
	if len(f.batches) != 1 || f.batches[0].Base != 1 || len(got) != 9 {
		t.Fatal("bootstrap", f.batches)
	}
	if !slices.EqualFunc(got[1:7], want, bytes.Equal) {
		t.Error("features differ")
	}
	defaults := f.c.Image().Config(meta.ConfigBroker, "")
	if f.c.Image().MetadataVersion() != 33 || defaults["min.insync.replicas"] != "1" {
		t.Error("image", f.c.Image().Features())
	}
}

func TestReplyWaitsForPublish(t *testing.T) {
	f := newFixture(t)
	f.beat(1, f.register(1, 1), false)
	req := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t", 2, 1
	req.Topics = append(req.Topics, topic)
	answered := false
	f.c.Handle(req, controller.Origin{}, func(r kmsg.Response) {
		answered = true
		if f.published[len(f.published)-1].Topic("t") == nil {
			t.Error("answered before the topic was visible")
		}
	})
	if answered {
		t.Fatal("answered before the commit")
	}
	if got := f.create("t", 1, 1); got.ErrorCode != int16(kerr.TopicAlreadyExists) {
		t.Error("plans must see what is appended", got)
	}
	if !answered {
		t.Error("not answered after the commit")
	}
}

func TestLostLeadershipDropsWhatIsPending(t *testing.T) {
	f := newFixture(t)
	f.beat(1, f.register(1, 1), false)
	req := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t", 2, 1
	req.Topics = append(req.Topics, topic)
	var got kmsg.Response
	f.c.Handle(req, controller.Origin{}, func(r kmsg.Response) { got = r })
	f.leading = false
	f.c.Follow(2, f.epoch+1)
	if got == nil || !controller.NotController(got) {
		t.Fatal("a parked reply must fail", got)
	}
	f.batches = f.batches[:f.applied]
	f.next = f.batches[f.applied-1].Last + 1
	f.lead()
	if got := f.create("t", 1, 1); got.ErrorCode != 0 {
		t.Error("the dropped topic is still there", *got.ErrorMessage)
	}
}

// TestRestartServesAtOnce: after SIGKILL, the only node's broker gets its id back without waiting for the
// session to run out, and leads again what it led, at once.
func TestRestartServesAtOnce(t *testing.T) {
	f := newFixture(t)
	f.beat(1, f.register(1, 1), false)
	f.create("t", 3, 1)
	f.published = nil
	f.c = f.controller()
	f.applied, f.leading = 0, false
	f.commit()
	f.lead()
	epoch := f.register(1, 2)
	if r := f.beat(1, epoch, false); r.IsFenced || !r.IsCaughtUp {
		t.Fatal("still fenced", r)
	}
	for n, p := range f.c.Image().Topic("t").Partitions {
		if p.Leader != 1 || len(p.ISR) != 1 || p.LeaderEpoch != 2 {
			t.Errorf("partition %d: %+v", n, p)
		}
	}
	r := do[*kmsg.BrokerRegistrationResponse](f, registration(1, 3))
	if r.ErrorCode != int16(kerr.DuplicateBrokerRegistration) {
		t.Error("a third incarnation while the second lives", r)
	}
}

func TestFencing(t *testing.T) {
	f := newFixture(t)
	one, two := f.register(1, 1), f.register(2, 2)
	f.beat(1, one, false)
	f.beat(2, two, false)
	if got := f.create("t", 2, 2); got.ErrorCode != 0 {
		t.Fatal(*got.ErrorMessage)
	}
	f.now = f.now.Add(8 * time.Second)
	f.beat(1, one, false)
	f.c.Tick(f.now, f)
	f.now = f.now.Add(2 * time.Second)
	f.c.Tick(f.now, f)
	f.commit()
	img := f.c.Image()
	if !img.Broker(2).Fenced || img.Broker(1).Fenced {
		t.Fatal("broker 2 must be fenced")
	}
	for _, p := range img.Topic("t").Partitions {
		if p.Leader != 1 || !slices.Equal(p.ISR, []meta.NodeID{1}) {
			t.Errorf("%+v", p)
		}
	}
	f.now = f.now.Add(time.Hour)
	f.c.Tick(f.now, f)
	f.commit()
	if f.c.Image().Broker(1).Fenced {
		t.Error("the only node fenced itself")
	}
}

func TestControlledShutdown(t *testing.T) {
	f := newFixture(t)
	epoch := f.register(1, 1)
	f.beat(1, epoch, false)
	f.create("t", 1, 1)
	if r := f.beat(1, epoch, true); r.ShouldShutdown {
		t.Fatal("it still led a partition")
	}
	if r := f.beat(1, epoch, true); !r.ShouldShutdown || !f.c.Image().Broker(1).Fenced {
		t.Fatal("it may go now", r)
	}
}

func TestAllocateProducerIDs(t *testing.T) {
	f := newFixture(t)
	req := kmsg.NewPtrAllocateProducerIDsRequest()
	req.BrokerID, req.BrokerEpoch = 1, f.register(1, 1)
	for i := range int64(3) {
		r := do[*kmsg.AllocateProducerIDsResponse](f, req)
		if r.ErrorCode != 0 || r.ProducerIDStart != i*1000 || r.ProducerIDLen != 1000 {
			t.Errorf("%+v", r)
		}
	}
	req.BrokerEpoch++
	if r := do[*kmsg.AllocateProducerIDsResponse](f, req); r.ErrorCode != int16(kerr.StaleBrokerEpoch) {
		t.Errorf("%+v", r)
	}
}

func TestLoaderFollows(t *testing.T) {
	f := newFixture(t)
	f.beat(1, f.register(1, 1), false)
	f.create("t", 3, 1)
	l := controller.NewLoader(func(*meta.Image, *meta.Delta) {}, func(err error) { t.Error(err) }, nil)
	for _, b := range f.batches {
		l.Apply(b)
	}
	a, b := slices.Collect(f.c.Image().Snapshot()), slices.Collect(l.Image().Snapshot())
	if !slices.EqualFunc(a, b, bytes.Equal) || l.Image().Offset != f.c.Image().Offset {
		t.Error("images differ")
	}
	fresh := controller.NewLoader(func(*meta.Image, *meta.Delta) {}, func(err error) { t.Error(err) }, nil)
	fresh.Restore(&quorum.Snapshot{Offset: f.next, Epoch: f.epoch, Records: slices.Values(a)})
	if fresh.Image().Topic("t") == nil || fresh.Image().Offset != f.next-1 {
		t.Error("not restored")
	}
}
