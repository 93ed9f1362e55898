package node

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/obs"
)

// lockedBuffer keeps what was logged.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// rig is a whole node on a file system of the test's, and one connection to it.
type rig struct {
	t    *testing.T
	n    *Node
	log  *lockedBuffer
	conn *rpcConn
}

const threeDirs = "log.dirs=/a,/b,/c"

// boot starts a node on fsys.
func boot(t *testing.T, fsys vfs.FS, more ...string) (*rig, error) {
	t.Helper()
	r := &rig{t: t, log: new(lockedBuffer)}
	for range 5 {
		err := r.start(t, fsys, more)
		if !errors.Is(err, syscall.EADDRINUSE) { // the port that was free isn't any more
			return r, err
		}
	}
	return r, syscall.EADDRINUSE
}

func (r *rig) start(t *testing.T, fsys vfs.FS, more []string) error {
	cfg := embedded(t, "/data", append([]string{
		"kalda.http.listener=", "offsets.topic.num.partitions=1", "controlled.shutdown.enable=false", threeDirs,
	}, more...)...)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var err error
	if r.n, err = startOn(ctx, fsys, cfg, obs.NewLogs(r.log, -4)); err != nil {
		return err
	}
	r.conn, err = dialRPC(ctx, r.n.Addr("PLAINTEXT").String(), "rig")
	return err
}

func mustBoot(t *testing.T, fsys vfs.FS, more ...string) *rig {
	t.Helper()
	r, err := boot(t, fsys, more...)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	return r
}

// end stops the node as well as its disk lets it.
func (r *rig) end() error {
	if r.conn != nil {
		r.conn.fail(errors.New("the test ends"))
	}
	if r.n == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	n := r.n
	r.n = nil
	return n.Stop(ctx)
}

// kill lets the node go without its disk hearing of it.
func (r *rig) kill(f *vfs.Faults) {
	f.HaltAfter(0)
	_ = r.end() // that it can't write is the point
}

var errNoAnswer = errors.New("no answer")

// ask sends one request; versions are the caller's.
func ask[R kmsg.Response](r *rig, req kmsg.Request) (answer R, err error) {
	type result struct {
		resp kmsg.Response
		err  error
	}
	ch := make(chan result, 1)
	r.conn.send(req, func(resp kmsg.Response, err error) { ch <- result{resp, err} })
	select {
	case got := <-ch:
		if got.err != nil {
			return answer, got.err
		}
		return got.resp.(R), nil
	case err := <-r.n.Fatal():
		return answer, fmt.Errorf("%w: %w", errNoAnswer, err)
	case <-time.After(10 * time.Second):
		return answer, errNoAnswer
	}
}

func codeOf(code int16) error {
	if code == 0 {
		return nil
	}
	return kerr.Code(code)
}

func (r *rig) create(topic string, partitions int32, configs ...string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 5000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
	for i := 0; i < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.CreateTopicsResponse](r, req)
	if err != nil {
		return err
	}
	return codeOf(resp.Topics[0].ErrorCode)
}

func (r *rig) drop(topic string) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version, req.TimeoutMillis = 6, 5000
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = &topic
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.DeleteTopicsResponse](r, req)
	if err != nil {
		return err
	}
	return codeOf(resp.Topics[0].ErrorCode)
}

func (r *rig) topics() ([]string, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 8
	resp, err := ask[*kmsg.MetadataResponse](r, req)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range resp.Topics {
		names = append(names, *t.Topic)
	}
	return names, nil
}

func (r *rig) producerID() (int64, error) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version = 4
	resp, err := ask[*kmsg.InitProducerIDResponse](r, req)
	if err != nil {
		return 0, err
	}
	return resp.ProducerID, codeOf(resp.ErrorCode)
}

// put appends one record as an idempotent producer's next and returns its offset.
func (r *rig) put(topic string, n int32, meta batch.Meta, value []byte) (int64, error) {
	meta.BaseTimestamp = time.Now().UnixMilli()
	raw, err := batch.Build(nil, meta, []batch.Record{{Value: value}})
	if err != nil {
		return 0, err
	}
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, -1, 5000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = n, raw
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.ProduceResponse](r, req)
	if err != nil {
		return 0, err
	}
	got := &resp.Topics[0].Partitions[0]
	return got.BaseOffset, codeOf(got.ErrorCode)
}

// read gives all values of a partition by offset.
func (r *rig) read(topic string, n int32) (map[int64][]byte, error) {
	out := map[int64][]byte{}
	return out, r.readFrom(topic, n, 0, out)
}

// readOn is read that goes on behind what it can't have, up to offset end. It tells the first error.
func (r *rig) readOn(topic string, n int32, end int64) (map[int64][]byte, error) {
	out := map[int64][]byte{}
	var first error
	for at := range end {
		if out[at] != nil {
			continue
		}
		if err := r.readFrom(topic, n, at, out); err == nil {
			break
		} else if first == nil {
			first = err
		}
	}
	return out, first
}

func (r *rig) readFrom(topic string, n int32, at int64, out map[int64][]byte) error {
	for {
		req := kmsg.NewPtrFetchRequest()
		req.Version, req.MaxBytes, req.SessionEpoch, req.ReplicaID = 11, 50<<20, -1, -1
		t := kmsg.NewFetchRequestTopic()
		t.Topic = topic
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = n, at, 50<<20, -1
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		resp, err := ask[*kmsg.FetchResponse](r, req)
		if err != nil {
			return err
		}
		got := &resp.Topics[0].Partitions[0]
		if got.ErrorCode != 0 {
			return kerr.Code(got.ErrorCode)
		}
		next, err := collect(out, got.RecordBatches)
		if err != nil {
			return err
		}
		if next < 0 || next >= got.HighWatermark {
			return nil
		}
		at = next
	}
}

// collect takes whole batches as a client would: what fails its checksum is refused.
func collect(out map[int64][]byte, raw []byte) (next int64, err error) {
	next = -1
	d := new(batch.Decompressor)
	for len(raw) > 0 {
		var v batch.View
		if v, raw, err = batch.Next(raw); errors.Is(err, batch.ErrShort) {
			return next, nil
		} else if err != nil {
			return next, err
		}
		if err := batch.Verify(v); err != nil {
			return next, err
		}
		recs, err := v.Records(d)
		if err != nil {
			return next, err
		}
		var rec batch.Record
		for recs.Next(&rec) {
			out[int64(v.BaseOffset())+int64(rec.OffsetDelta)] = slices.Clone(rec.Value)
		}
		recs.Close()
		next = int64(v.LastOffset()) + 1
	}
	return next, nil
}

// commit commits an offset of topic sync for group g.
func (r *rig) commit(offset int64) error {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 3, "g"
	await(r.t, "the coordinator", func() bool {
		resp, err := ask[*kmsg.FindCoordinatorResponse](r, find)
		return err != nil || resp.ErrorCode == 0
	})
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation = 7, "g", -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = "sync"
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = offset
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.OffsetCommitResponse](r, req)
	if err != nil {
		return err
	}
	return codeOf(resp.Topics[0].Partitions[0].ErrorCode)
}

// committed is the offset that group g committed last.
func (r *rig) committed() (int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version, req.Group = 5, "g"
	t := kmsg.NewOffsetFetchRequestTopic()
	t.Topic, t.Partitions = "sync", []int32{0}
	req.Topics = append(req.Topics, t)
	for range 200 {
		resp, err := ask[*kmsg.OffsetFetchResponse](r, req)
		if err != nil {
			return 0, err
		}
		if kerr.Code(resp.ErrorCode) == kerr.CoordinatorLoadInProgress {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if resp.ErrorCode != 0 {
			return 0, kerr.Code(resp.ErrorCode)
		}
		got := &resp.Topics[0].Partitions[0]
		return got.Offset, codeOf(got.ErrorCode)
	}
	return 0, errNoAnswer
}

// value is a record's value of some size that tells its number.
func value(n, size int) []byte {
	b := make([]byte, max(size, 8))
	binary.BigEndian.PutUint64(b, uint64(n))
	return b
}

const (
	enospc = syscall.ENOSPC
	eio    = syscall.EIO
)

type metaPartition = meta.Partition
