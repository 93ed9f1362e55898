package broker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/obs"
	"github.com/kalda/kalda/internal/wire"
)

// controllerStub answers forwarded requests as a test says.
type controllerStub struct {
	mu     sync.Mutex
	seen   []kmsg.Request
	answer func(kmsg.Request) kmsg.Response
}

func (c *controllerStub) Forward(req kmsg.Request, _ Origin, reply func(kmsg.Response)) {
	c.mu.Lock()
	c.seen = append(c.seen, req)
	c.mu.Unlock()
	resp := req.ResponseKind()
	if c.answer != nil {
		resp = c.answer(req)
	}
	reply(resp)
}

func (c *controllerStub) requests() []kmsg.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// adminNode is a broker on a socket, with an image and a controller that tests make up.
type adminNode struct {
	t          *testing.T
	b          *Broker
	controller *controllerStub
	addr       string
	client     *kgo.Client
}

func newAdminNode(t *testing.T, change func(*Config)) *adminNode {
	t.Helper()
	node, _, err := config.Embedded(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &adminNode{t: t, controller: &controllerStub{}}
	cfg := Config{
		NodeID: 1, ClusterID: "cluster", Node: node, Logs: obs.NewLogs(io.Discard, slog.LevelInfo),
		AutoCreateTopics: true, Forward: n.controller,
	}
	if change != nil {
		change(&cfg)
	}
	if n.b, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	s, err := wire.Listen(wire.Config{Listeners: []wire.Listener{{Name: "PLAINTEXT", Host: "127.0.0.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve("PLAINTEXT", wire.NewTable(n.b.adminAPIs()...)); err != nil {
		t.Fatal(err)
	}
	n.addr = s.Addr("PLAINTEXT").String()
	if n.client, err = kgo.NewClient(kgo.SeedBrokers(n.addr)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.client.Close()
		s.Shutdown(context.Background())
	})
	return n
}

// apply builds the broker's next image from records.
func (n *adminNode) apply(records ...record.Metadata) {
	n.t.Helper()
	var raw [][]byte
	for _, m := range records {
		raw = append(raw, record.AppendMetadata(nil, m, m.Latest()))
	}
	img := n.b.Image()
	next, d, err := img.Apply(img.Offset+1, 1, 0, raw)
	if err != nil {
		n.t.Fatal(err)
	}
	n.b.ApplyImage(next, d)
}

func ask[R kmsg.Response](n *adminNode, req kmsg.Request) R {
	n.t.Helper()
	resp, err := n.client.SeedBrokers()[0].Request(context.Background(), req)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.(R)
}

func registered(id meta.NodeID, listeners ...string) []record.Metadata {
	r := &record.RegisterBroker{BrokerID: id, IncarnationID: meta.UUID{byte(id)}, BrokerEpoch: int64(id)}
	for _, l := range listeners {
		r.EndPoints = append(r.EndPoints, record.EndPoint{Name: l, Host: fmt.Sprintf("host%d", id), Port: 9092})
	}
	return []record.Metadata{r}
}

func topicOf(name string, id byte, partitions int, replicas ...meta.NodeID) []record.Metadata {
	list := []record.Metadata{&record.Topic{Name: name, TopicID: meta.UUID{15: id, 1: 1}}}
	for i := range partitions {
		list = append(list, &record.Partition{
			PartitionID: int32(i), TopicID: meta.UUID{15: id, 1: 1}, Replicas: replicas, ISR: replicas,
			Leader: replicas[0], LeaderEpoch: 5, Directories: make([]meta.UUID, len(replicas)),
		})
	}
	return list
}

func TestMetadataTellsTheDialledAddress(t *testing.T) {
	for _, c := range []struct {
		name      string
		announced bool
		brokers   int
		want      string
	}{
		{"alone, nothing announced", false, 1, "127.0.0.1"},
		{"alone, announced", true, 1, "host1"},
		{"not alone", false, 2, "host1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newAdminNode(t, func(cfg *Config) { cfg.Announced = c.announced })
			for id := range c.brokers {
				n.apply(registered(meta.NodeID(id+1), "PLAINTEXT")...)
			}
			resp := ask[*kmsg.MetadataResponse](n, kmsg.NewPtrMetadataRequest())
			if len(resp.Brokers) != c.brokers || resp.Brokers[0].Host != c.want {
				t.Errorf("%+v", resp.Brokers)
			}
			if host, port, _ := net.SplitHostPort(n.addr); c.want == host && fmt.Sprint(resp.Brokers[0].Port) != port {
				t.Errorf("port %d", resp.Brokers[0].Port)
			}
			if resp.ControllerID < 1 || *resp.ClusterID != "cluster" {
				t.Error(resp.ControllerID, resp.ClusterID)
			}
		})
	}
}

func metadataOf(n *adminNode, names ...string) *kmsg.MetadataResponse {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		q := kmsg.NewMetadataRequestTopic()
		q.Topic = new(name)
		req.Topics = append(req.Topics, q)
	}
	req.IncludeTopicAuthorizedOperations, req.AllowAutoTopicCreation = true, true
	return ask[*kmsg.MetadataResponse](n, req)
}

func TestMetadataOfTopics(t *testing.T) {
	n := newAdminNode(t, func(c *Config) { c.AutoCreateTopics = false })
	n.apply(registered(1, "PLAINTEXT")...)
	n.apply(registered(2, "OTHER")...)
	n.apply(topicOf("here", 1, 2, 1, 2)...)
	n.apply(topicOf("there", 2, 1, 2)...)
	n.apply(topicOf("gone", 3, 1, 3)...)
	n.apply(topicOf(offsetsTopic, 4, 1, 1)...)
	resp := metadataOf(n, "here", "there", "gone", "bad/name", "absent", "here", offsetsTopic)
	want := []struct {
		name            string
		topic, part     kerr.Code
		leader          int32
		internal        bool
		offline, nparts int
	}{
		{"here", 0, 0, 1, false, 1, 2},
		{"there", 0, kerr.ListenerNotFound, -1, false, 1, 1},
		{"gone", 0, kerr.LeaderNotAvailable, -1, false, 1, 1},
		{"bad/name", kerr.InvalidTopicException, 0, 0, false, 0, 0},
		{"absent", kerr.UnknownTopicOrPartition, 0, 0, false, 0, 0},
		{offsetsTopic, 0, 0, 1, true, 0, 1},
	}
	if len(resp.Topics) != len(want) {
		t.Fatalf("%d topics: %+v", len(resp.Topics), resp.Topics)
	}
	for i, w := range want {
		got := resp.Topics[i]
		if *got.Topic != w.name || kerr.Code(got.ErrorCode) != w.topic || got.IsInternal != w.internal ||
			len(got.Partitions) != w.nparts {
			t.Errorf("%s: %+v", w.name, got)
			continue
		}
		if w.nparts > 0 {
			p := got.Partitions[0]
			if kerr.Code(p.ErrorCode) != w.part || p.Leader != w.leader || len(p.OfflineReplicas) != w.offline ||
				p.LeaderEpoch != 5 || got.AuthorizedOperations != topicOperations {
				t.Errorf("%s: %+v", w.name, got)
			}
		}
	}
	if all := ask[*kmsg.MetadataResponse](n, kmsg.NewPtrMetadataRequest()); len(all.Topics) != 4 {
		t.Errorf("all: %d", len(all.Topics))
	}
	none := kmsg.NewPtrMetadataRequest()
	none.Topics = []kmsg.MetadataRequestTopic{}
	if r := ask[*kmsg.MetadataResponse](n, none); len(r.Topics) != 0 {
		t.Errorf("none: %d", len(r.Topics))
	}
	byID := kmsg.NewPtrMetadataRequest()
	for _, id := range []byte{1, 9} {
		q := kmsg.NewMetadataRequestTopic()
		q.TopicID = meta.UUID{15: id, 1: 1}
		byID.Topics = append(byID.Topics, q)
	}
	r := ask[*kmsg.MetadataResponse](n, byID)
	if len(r.Topics) != 2 || *r.Topics[0].Topic != "here" || r.Topics[1].Topic != nil ||
		kerr.Code(r.Topics[1].ErrorCode) != kerr.UnknownTopicID {
		t.Errorf("by id: %+v", r.Topics)
	}
}

func TestMetadataMakesTopics(t *testing.T) {
	n := newAdminNode(t, nil)
	n.apply(registered(1, "PLAINTEXT")...)
	n.controller.answer = func(req kmsg.Request) kmsg.Response {
		for _, q := range req.(*kmsg.CreateTopicsRequest).Topics {
			if q.Topic != "refused" {
				n.apply(topicOf(q.Topic, byte(n.b.Image().TopicCount()+1), 1, 1)...)
			}
		}
		return req.ResponseKind()
	}
	if resp := metadataOf(n, "new", "refused", "bad/name"); resp.Topics[0].ErrorCode != 0 ||
		len(resp.Topics[0].Partitions) != 1 || kerr.Code(resp.Topics[1].ErrorCode) != kerr.UnknownTopicOrPartition {
		t.Errorf("%+v", resp.Topics)
	}
	req := kmsg.NewPtrMetadataRequest()
	q := kmsg.NewMetadataRequestTopic()
	q.Topic = new("other")
	req.Topics = append(req.Topics, q)
	req.AllowAutoTopicCreation = false
	if resp := ask[*kmsg.MetadataResponse](n,
		req); kerr.Code(resp.Topics[0].ErrorCode) != kerr.UnknownTopicOrPartition {
		t.Errorf("%+v", resp.Topics)
	}
	metadataOf(n, offsetsTopic)
	seen := n.controller.requests()
	if len(seen) != 2 {
		t.Fatalf("%d requests", len(seen))
	}
	if first := seen[0].(*kmsg.CreateTopicsRequest).Topics; len(first) != 2 || first[0].ReplicationFactor != 1 {
		t.Errorf("%+v", first)
	}
	o := seen[1].(*kmsg.CreateTopicsRequest).Topics[0]
	if o.NumPartitions != 50 || o.ReplicationFactor != 1 || len(o.Configs) != 3 ||
		*o.Configs[0].Value != "compact" {
		t.Errorf("%+v", o)
	}
}

func TestApiVersions(t *testing.T) {
	n := newAdminNode(t, nil)
	n.apply(&record.FeatureLevel{Name: meta.FeatureMetadata, Level: 33},
		&record.FeatureLevel{Name: "group.version", Level: 1})
	for version := range int16(6) {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version = version
		req.ClientSoftwareName, req.ClientSoftwareVersion = "kalda-test", "1.0"
		raw := exchange(t, n.addr, req)
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.Version = version
		if err := resp.ReadFrom(raw); err != nil {
			t.Fatal(version, err)
		}
		if resp.ErrorCode != 0 || len(resp.ApiKeys) != len(n.b.adminAPIs()) {
			t.Error(version, resp.ErrorCode, len(resp.ApiKeys))
		}
		for _, f := range resp.SupportedFeatures {
			if version < 4 && f.MinVersion == 0 || f.Name == "group.version" {
				t.Errorf("v%d: %+v", version, f)
			}
		}
		if version >= 3 && (len(resp.FinalizedFeatures) != 1 || resp.FinalizedFeatures[0].MaxVersionLevel != 33 ||
			resp.FinalizedFeaturesEpoch != 1 && resp.FinalizedFeaturesEpoch != 0) {
			t.Errorf("v%d: %+v", version, resp)
		}
	}
}

func TestApiVersionsChecksTheClient(t *testing.T) {
	n := newAdminNode(t, nil)
	for _, c := range []struct {
		version       int16
		name, cluster string
		node          int32
		want          kerr.Code
	}{
		{3, "a-b.c", "", -1, kerr.None},
		{3, "", "", -1, kerr.InvalidRequest},
		{
			3, "-a", "", -1,
			kerr.InvalidRequest,
		},
		{4, "a b", "", -1, kerr.InvalidRequest},
		{5, "a", "cluster", 1, kerr.None},
		{5, "a", "other", 1, kerr.RebootstrapRequired},
		{5, "a", "cluster", 2, kerr.RebootstrapRequired},
		{5, "a", "cluster", -1, kerr.InvalidRequest},
		{5, "a", "", 1, kerr.InvalidRequest},
		{5, "a", "", -1, kerr.None},
	} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion, req.NodeID = c.version, c.name, "1", c.node
		req.ClusterID = strOrNil(c.cluster)
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.Version = c.version
		if err := resp.ReadFrom(exchange(t, n.addr, req)); err != nil {
			t.Fatal(err)
		}
		if kerr.Code(resp.ErrorCode) != c.want {
			t.Errorf("%+v: %v", c, kerr.Code(resp.ErrorCode))
		}
	}
}

// exchange sends one request on a connection of its own and returns the body of the answer.
func exchange(t *testing.T, addr string, req kmsg.Request) []byte {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 7)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[0])<<24|int(head[1])<<16|int(head[2])<<8|int(head[3])-4)
	if _, err := io.ReadFull(c, body); err != nil {
		t.Fatal(err)
	}
	if req.Key() != int16(kmsg.ApiVersions) && req.IsFlexible() {
		body = body[1:]
	}
	return body
}

func TestDescribeCluster(t *testing.T) {
	n := newAdminNode(t, nil)
	n.apply(registered(1, "PLAINTEXT")...)
	fenced := registered(2, "PLAINTEXT")
	fenced[0].(*record.RegisterBroker).Fenced = true
	n.apply(fenced...)
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType, req.IncludeClusterAuthorizedOperations = 1, true
	resp := ask[*kmsg.DescribeClusterResponse](n, req)
	if resp.ErrorCode != 0 || len(resp.Brokers) != 1 || resp.ControllerID != 1 || resp.ClusterID != "cluster" ||
		resp.ClusterAuthorizedOperations != clusterOperations {
		t.Errorf("%+v", resp)
	}
	req.IncludeFencedBrokers = true
	if resp = ask[*kmsg.DescribeClusterResponse](n, req); len(resp.Brokers) != 2 || !resp.Brokers[1].IsFenced {
		t.Errorf("%+v", resp)
	}
	for kind, want := range map[int8]kerr.Code{2: kerr.MismatchedEndpointType, 9: kerr.UnsupportedEndpointType} {
		req.EndpointType = kind
		if resp = ask[*kmsg.DescribeClusterResponse](n, req); kerr.Code(resp.ErrorCode) != want {
			t.Errorf("%+v", resp)
		}
	}
}

func TestDescribeTopicPartitionsPages(t *testing.T) {
	n := newAdminNode(t, nil)
	n.apply(registered(1, "PLAINTEXT")...)
	n.apply(topicOf("a", 1, 3, 1)...)
	n.apply(topicOf("b", 2, 1, 1)...)
	n.apply(topicOf("c", 3, 2, 1)...)
	var got []string
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 2
	for range 10 {
		resp := ask[*kmsg.DescribeTopicPartitionsResponse](n, req)
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				got = append(got, fmt.Sprintf("%s%d", *topic.Topic, p.Partition))
			}
		}
		got = append(got, "|")
		if resp.NextCursor == nil {
			break
		}
		c := kmsg.NewDescribeTopicPartitionsRequestCursor()
		c.Topic, c.Partition = resp.NextCursor.Topic, resp.NextCursor.Partition
		req.Cursor = &c
	}
	if s := strings.Join(got, " "); s != "a0 a1 | a2 b0 | c0 c1 |" {
		t.Error(s)
	}
	req = kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 100
	for _, name := range []string{"c", "nope", "a", "c", "x/"} {
		q := kmsg.NewDescribeTopicPartitionsRequestTopic()
		q.Topic = name
		req.Topics = append(req.Topics, q)
	}
	got = nil
	for _, topic := range ask[*kmsg.DescribeTopicPartitionsResponse](n, req).Topics {
		got = append(got, fmt.Sprint(*topic.Topic, topic.ErrorCode, len(topic.Partitions)))
	}
	if s := strings.Join(got, " "); s != "a0 3 c0 2 nope3 0 x/17 0" {
		t.Error(s)
	}
}
