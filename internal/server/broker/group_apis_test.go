package broker

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/server/coordinator"
)

// testGroups is the real coordinator, as a node hands it to the broker.
type testGroups struct{ *coordinator.Groups }

func (g testGroups) Lead(partition, epoch int32, p *Partition) { g.Groups.Lead(partition, epoch, p) }

func startWithGroups(t *testing.T) *fixture {
	cfg := group.Defaults()
	cfg.InitialRebalanceDelay = 0
	var g testGroups
	var seeds atomic.Int32
	f := start(t, func(c *Config) {
		g = testGroups{coordinator.NewGroups(coordinator.Config{Log: c.Log}, cfg, func() [32]byte {
			return [32]byte{byte(seeds.Add(1))}
		})}
		c.Groups = g
	})
	t.Cleanup(g.Close)
	f.topic(offsetsTopic, 50, "cleanup.policy=compact")
	return f
}

// TestGroupAPIs holds the same session with us as was held with Apache, in the versions of six times: every
// reply is the same. Left out is where they differ on purpose: we tell of a group from its first member on,
// Apache a record later.
func TestGroupAPIs(t *testing.T) {
	golden, err := os.ReadFile("testdata/golden/group_apis.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := startWithGroups(t)
	f.topic("t", 2)
	s := &groupSession{t: t, f: f, port: f.addr[strings.LastIndexByte(f.addr, ':')+1:], ids: map[string]string{}}
	s.tid = topicID("t")
	for _, v := range []struct {
		name     string
		versions *kversion.Versions
	}{
		{"new", nil},
		{"v3.5", kversion.V3_5_0()},
		{"v2.4", kversion.V2_4_0()},
		{"v2.0", kversion.V2_0_0()},
		{"v1.0", kversion.V1_0_0()},
		{"v0.10", kversion.V0_10_2()},
	} {
		opts := []kgo.Opt{kgo.ClientID("cli")}
		if v.versions != nil {
			opts = append(opts, kgo.MaxVersions(v.versions))
		}
		s.label, s.cl = v.name, f.client(opts...)
		g := "b" + strings.ReplaceAll(v.name, ".", "")
		s.strangers(g)
		s.refusedJoins(g)
		s.stable(g, s.member(g))
		if v.versions == nil || v.versions.HasKey(47) {
			s.static(g) // they came to be together, with 2.4
		}
		s.find(g, "", "other")
	}
	want := strings.Split(strings.TrimSpace(string(golden)), "\n")
	if d := cmp.Diff(want, s.lines); d != "" {
		t.Error(d)
	}
}

type groupSession struct {
	t     *testing.T
	f     *fixture
	cl    *kgo.Client
	label string
	port  string
	tid   [16]byte
	ids   map[string]string
	lines []string
}

var memberIDs = `[a-z0-9-]*-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// do sends a request and writes its reply down. Requests that the versions of the time don't have aren't
// sent.
func (s *groupSession) do(req kmsg.Request) kmsg.Response {
	resp, err := s.cl.Broker(1).Request(s.f.ctx(), req)
	if err != nil {
		if !strings.Contains(err.Error(), "request key is unknown") {
			s.t.Errorf("%s %T: %v", s.label, req, err)
		}
		return nil
	}
	raw, _ := json.Marshal(resp)
	var tree any
	_ = json.Unmarshal(raw, &tree)
	raw, _ = json.Marshal(s.plain(tree))
	line := regexp.MustCompile(memberIDs).ReplaceAllStringFunc(string(raw), func(id string) string {
		if _, ok := s.ids[id]; !ok {
			s.ids[id] = fmt.Sprintf("M%d", len(s.ids))
		}
		return s.ids[id]
	})
	name := strings.TrimSuffix(reflect.TypeOf(req).Elem().Name(), "Request")
	s.lines = append(s.lines, fmt.Sprintf("%s %s v%d: %s", s.label, name, req.GetVersion(), line))
	return resp
}

// plain is a reply without what differs from run to run. Order is kept but for groups', which Apache has none
// for.
func (s *groupSession) plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = s.plain(v[i])
		}
		return v
	case map[string]any:
		delete(v, "UnknownTags")
		delete(v, "Version")
		for k := range v {
			v[k] = s.plain(v[k])
		}
		if id, ok := v["TopicID"].([]any); ok {
			v["TopicID"] = "X"
			if !slices.ContainsFunc(id, func(b any) bool { return b != 0.0 }) {
				v["TopicID"] = 0
			}
		}
		if p, ok := v["Port"].(float64); ok && strconv.Itoa(int(p)) == s.port {
			v["Port"] = "PORT"
		}
		if gs, ok := v["Groups"].([]any); ok {
			slices.SortFunc(gs, func(a, b any) int {
				return strings.Compare(fmt.Sprint(a.(map[string]any)["Group"]), fmt.Sprint(b.(map[string]any)["Group"]))
			})
		}
		return v
	}
	return v
}

func subscriptionTo(topic string) []byte {
	b := append([]byte{0, 0, 0, 0, 0, 1, 0, byte(len(topic))}, topic...)
	return append(b, 0xff, 0xff, 0xff, 0xff)
}

func (s *groupSession) join(g, member string, change ...func(*kmsg.JoinGroupRequest)) *kmsg.JoinGroupResponse {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = g, member, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 10000, 20000
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscriptionTo("t")}}
	for _, f := range change {
		f(r)
	}
	resp, _ := s.do(r).(*kmsg.JoinGroupResponse)
	if resp == nil {
		s.t.FailNow()
	}
	return resp
}

func (s *groupSession) sync(g, member string, generation int32, change ...func(*kmsg.SyncGroupRequest)) {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation = g, member, generation
	r.ProtocolType, r.Protocol = new("consumer"), new("range")
	r.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: member, MemberAssignment: []byte("x")}}
	for _, f := range change {
		f(r)
	}
	s.do(r)
}

func (s *groupSession) heartbeat(g, member string, generation int32, instance *string) {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.MemberID, r.Generation, r.InstanceID = g, member, generation, instance
	s.do(r)
}

func (s *groupSession) leave(g string, ms ...kmsg.LeaveGroupRequestMember) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group, r.Members, r.MemberID = g, ms, ms[0].MemberID
	s.do(r)
}

// place is what a commit is about.
type place struct {
	topic string
	id    [16]byte
	part  int32
	meta  string
}

func (s *groupSession) commit(g, member string, generation int32, p place, change ...func(*kmsg.OffsetCommitRequest)) {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.MemberID, r.Generation = g, member, generation
	o := kmsg.NewOffsetCommitRequestTopicPartition()
	o.Partition, o.Offset, o.Metadata = p.part, 5, &p.meta
	r.Topics = []kmsg.OffsetCommitRequestTopic{{
		Topic: p.topic, TopicID: p.id,
		Partitions: []kmsg.OffsetCommitRequestTopicPartition{o},
	}}
	for _, f := range change {
		f(r)
	}
	s.do(r)
}

// fetch with no partitions asks for all.
func (s *groupSession) fetch(g string, p place, partitions []int32, member *string, epoch int32) {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Group = g
	x := kmsg.NewOffsetFetchRequestGroup()
	x.Group, x.MemberID, x.MemberEpoch = g, member, epoch
	if partitions != nil {
		r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: p.topic, Partitions: partitions}}
		x.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: p.topic, TopicID: p.id, Partitions: partitions}}
	}
	r.Groups = []kmsg.OffsetFetchRequestGroup{x}
	s.do(r)
}

func (s *groupSession) list(states, types []string) {
	r := kmsg.NewPtrListGroupsRequest()
	r.StatesFilter, r.TypesFilter = states, types
	s.do(r)
}

func (s *groupSession) describe(groups ...string) {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups, r.IncludeAuthorizedOperations = groups, true
	s.do(r)
}

func (s *groupSession) del(groups ...string) {
	r := kmsg.NewPtrDeleteGroupsRequest()
	r.Groups = groups
	s.do(r)
}

func (s *groupSession) offsetDelete(g, topic string, partition int32) {
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = g
	r.Topics = []kmsg.OffsetDeleteRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: partition}},
	}}
	s.do(r)
}

func (s *groupSession) find(keys ...string) {
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.CoordinatorKey, r.CoordinatorKeys = keys[0], keys
	s.do(r)
}

// strangers: what those get who are in no group.
func (s *groupSession) strangers(g string) {
	t, nosuch := place{topic: "t", id: s.tid}, place{topic: "nosuch", id: [16]byte{1}}
	s.describe(g, "nobody")
	s.fetch(g, t, []int32{0, 9}, nil, -1)
	s.fetch(g, t, nil, nil, -1)
	s.commit(g, "x", 3, t)
	s.commit(g, "", -1, nosuch)
	s.commit(g, "", -1, place{"t", s.tid, 9, ""})
	s.commit(g, "", -1, place{"t", s.tid, 0, strings.Repeat("m", 5000)})
	s.commit(g+"s", "", -1, place{"t", s.tid, 0, "meta"})
	s.fetch(g+"s", t, []int32{0, 1, 9}, nil, -1)
	s.fetch(g+"s", nosuch, []int32{0}, nil, -1)
	s.fetch(g+"s", t, nil, nil, -1)
	s.fetch(g+"s", t, []int32{0}, new("m"), 3)
	s.describe(g + "s")
	s.list(nil, nil)
	s.offsetDelete(g+"s", "t", 1)
	s.offsetDelete(g+"s", "t", 9)
	s.offsetDelete(g+"s", "nosuch", 0)
	s.offsetDelete(g+"n", "t", 0)
	s.del(g+"s", g+"n", "")
	s.heartbeat(g, "x", 1, nil)
	s.heartbeat("", "x", 1, nil)
	s.leave(g, kmsg.LeaveGroupRequestMember{MemberID: "x"})
	s.leave("", kmsg.LeaveGroupRequestMember{MemberID: "x"})
	s.sync(g, "x", 1)
}

func (s *groupSession) refusedJoins(g string) {
	s.join("", "")
	s.join(g, "x")
	s.join(g, "", func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 1 })
	s.join(g, "", func(r *kmsg.JoinGroupRequest) { r.Protocols = nil })
	s.join(g, "", func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "" })
}

// member joins and syncs, with mistakes.
func (s *groupSession) member(g string) *kmsg.JoinGroupResponse {
	j := s.join(g, "")
	if j.ErrorCode == 79 {
		j = s.join(g, j.MemberID)
	}
	m, t := j.MemberID, place{topic: "t", id: s.tid}
	s.heartbeat(g, m, j.Generation, nil)
	s.commit(g, m, j.Generation, t)
	s.commit(g, "", -1, t)
	s.sync(g, m, j.Generation+1)
	s.sync(g, m, j.Generation, func(r *kmsg.SyncGroupRequest) { r.Protocol = new("other") })
	s.sync(g, m, j.Generation, func(r *kmsg.SyncGroupRequest) { r.ProtocolType = nil })
	s.sync(g, m, j.Generation)
	s.sync(g, m, j.Generation)
	return j
}

// stable: a stable group, and how its member leaves.
func (s *groupSession) stable(g string, j *kmsg.JoinGroupResponse) {
	m, t := j.MemberID, place{topic: "t", id: s.tid}
	s.describe(g)
	s.list([]string{"stable"}, []string{"CLASSIC"})
	s.list([]string{"Empty"}, nil)
	s.list(nil, []string{"consumer"})
	s.list([]string{"bogus"}, []string{"bogus"})
	s.commit(g, m, j.Generation, t)
	s.commit(g, m, j.Generation+1, t)
	s.commit(g, "", -1, t)
	s.commit(g, m, -1, t)
	s.offsetDelete(g, "t", 0)
	s.del(g)
	s.heartbeat(g, m, j.Generation, new("inst"))
	s.heartbeat(g, m, j.Generation+1, nil)
	s.join(g, m) // the leader's: a rebalance
	s.join(g, "", func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "connect" })
	s.join(g, "", func(r *kmsg.JoinGroupRequest) { r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "rr"}} })
	s.leave(g, kmsg.LeaveGroupRequestMember{MemberID: m}, kmsg.LeaveGroupRequestMember{MemberID: "y"},
		kmsg.LeaveGroupRequestMember{InstanceID: new("i")})
	s.describe(g)
	s.list(nil, nil)
	s.join(g, m)
	s.commit(g, m, 1, t)
	s.offsetDelete(g, "t", 0)
}

// static: an instance's new process.
func (s *groupSession) static(g string) {
	inst := func(r *kmsg.JoinGroupRequest) { r.InstanceID = new("inst") }
	instSync := func(r *kmsg.SyncGroupRequest) { r.InstanceID = new("inst") }
	a := s.join(g, "", inst)
	s.sync(g, a.MemberID, a.Generation, instSync)
	b := s.join(g, "", inst)
	s.heartbeat(g, a.MemberID, a.Generation, new("inst"))
	s.heartbeat(g, b.MemberID, a.Generation, new("inst"))
	s.heartbeat(g, b.MemberID, a.Generation, new("other"))
	s.sync(g, a.MemberID, a.Generation, instSync)
	s.sync(g, b.MemberID, a.Generation, instSync)
	s.commit(g, a.MemberID, a.Generation, place{topic: "t", id: s.tid},
		func(r *kmsg.OffsetCommitRequest) { r.InstanceID = new("inst") })
	s.leave(g, kmsg.LeaveGroupRequestMember{MemberID: a.MemberID, InstanceID: new("inst")},
		kmsg.LeaveGroupRequestMember{InstanceID: new("inst")})
	s.describe(g)
	s.del(g)
	s.list(nil, nil)
}
