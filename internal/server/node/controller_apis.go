package node

import (
	"encoding/binary"
	"net"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/server/controller"
	"github.com/kalda/kalda/internal/server/quorum"
	"github.com/kalda/kalda/internal/wire"
)

// versions of one API that a controller listener serves.
type versions struct{ key, min, max int16 }

// raftVersions are the requests that the quorum itself answers (kraft.md 1.21).
var raftVersions = []versions{
	{int16(kmsg.Fetch), 4, 18},
	{int16(kmsg.Vote), 0, 2},
	{int16(kmsg.BeginQuorumEpoch), 0, 1},
	{int16(kmsg.EndQuorumEpoch), 0, 1},
	{int16(kmsg.DescribeQuorum), 0, 2},
	{int16(kmsg.FetchSnapshot), 0, 1},
}

// controllerVersions are the requests that the active controller answers, on its own listeners and inside
// Envelopes.
var controllerVersions = []versions{
	{int16(kmsg.CreateTopics), 2, 7},
	{int16(kmsg.DeleteTopics), 1, 6},
	{int16(kmsg.AlterConfigs), 0, 2},
	{int16(kmsg.CreatePartitions), 0, 3},
	{int16(kmsg.ElectLeaders), 0, 2},
	{int16(kmsg.IncrementalAlterConfigs), 0, 1},
	{int16(kmsg.AlterPartitionAssignments), 0, 1},
	{int16(kmsg.ListPartitionReassignments), 0, 0},
	{int16(kmsg.UpdateFeatures), 0, 2},
	{int16(kmsg.UnregisterBroker), 0, 0},
	{int16(kmsg.UnregisterController), 0, 0},
	{int16(kmsg.AlterClientQuotas), 0, 1},
	{int16(kmsg.AlterPartition), 2, 3},
	{int16(kmsg.BrokerRegistration), 0, 4},
	{int16(kmsg.BrokerHeartbeat), 0, 2},
	{int16(kmsg.AllocateProducerIDs), 0, 0},
	{int16(kmsg.ControllerRegistration), 0, 0},
	{int16(kmsg.AssignReplicasToDirs), 0, 0},
}

// forwardable are those of them that may come in an Envelope: what clients may ask.
func forwardable(key int16) bool {
	switch kmsg.Key(key) {
	case kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.CreatePartitions, kmsg.AlterConfigs,
		kmsg.IncrementalAlterConfigs, kmsg.AlterClientQuotas, kmsg.ElectLeaders, kmsg.AlterPartitionAssignments,
		kmsg.ListPartitionReassignments, kmsg.UpdateFeatures, kmsg.UnregisterBroker, kmsg.UnregisterController:
		return true
	}
	return false
}

// raft answers the quorum's own requests.
type raft interface{ Handle(r quorum.RaftRequest) }

// controllerHandler answers everything else.
type controllerHandler interface {
	Handle(req kmsg.Request, from controller.Origin, reply func(kmsg.Response))
}

// controllerTable is what a controller listener serves: by the quorum, by the active controller, and what any
// controller's node tells.
func controllerTable(q raft, c controllerHandler, versions, describe func(*wire.Request)) *wire.Table {
	apis := []wire.API{
		{Key: int16(kmsg.ApiVersions), Min: 0, Max: 5, Serve: versions},
		{Key: int16(kmsg.DescribeCluster), Min: 0, Max: 2, Serve: describe},
		{Key: int16(kmsg.Envelope), Min: 0, Max: 0, Serve: func(r *wire.Request) { serveEnvelope(c, r) }},
	}
	for _, v := range raftVersions {
		apis = append(apis, wire.API{Key: v.key, Min: v.min, Max: v.max, Serve: func(r *wire.Request) {
			req := kmsg.RequestForKey(r.Key)
			if r.Decode(req) {
				q.Handle(quorum.RaftRequest{Request: req, Listener: r.Conn.Listener, Reply: r.Reply})
			}
		}})
	}
	for _, v := range controllerVersions {
		apis = append(apis, wire.API{Key: v.key, Min: v.min, Max: v.max, Serve: func(r *wire.Request) {
			req := kmsg.RequestForKey(r.Key)
			if r.Decode(req) {
				c.Handle(req, originOf(r), r.Reply)
			}
		}})
	}
	return wire.NewTable(apis...).Vital()
}

func originOf(r *wire.Request) controller.Origin {
	return controller.Origin{
		Principal: r.Conn.Principal, ClientID: r.ClientID,
		Host: net.IP(r.Conn.Remote.Addr().Unmap().AsSlice()), Listener: r.Conn.Listener,
	}
}

// serveEnvelope answers a client's request that a broker passed on (kraft.md 4.2).
func serveEnvelope(c controllerHandler, r *wire.Request) {
	env := kmsg.NewPtrEnvelopeRequest()
	if !r.Decode(env) {
		return
	}
	listener := r.Conn.Listener
	fail := func(code kerr.Code) {
		resp := kmsg.NewPtrEnvelopeResponse()
		resp.ErrorCode = int16(code)
		r.Reply(resp)
	}
	in, code := openRequest(env)
	if code != kerr.None {
		fail(code)
		return
	}
	in.from.Listener = listener
	c.Handle(in.req, in.from, func(answer kmsg.Response) {
		if controller.NotController(answer) {
			fail(kerr.NotController)
			return
		}
		resp := kmsg.NewPtrEnvelopeResponse()
		resp.ResponseData = in.sealAnswer(answer)
		r.Reply(resp)
	})
}

// enveloped is a request taken out of its Envelope.
type enveloped struct {
	req         kmsg.Request
	correlation int32
	from        controller.Origin
}

func openRequest(env *kmsg.EnvelopeRequest) (in enveloped, code kerr.Code) {
	if n := len(env.ClientHostAddress); n != net.IPv4len && n != net.IPv6len {
		return in, kerr.InvalidRequest
	}
	principal, err := decodePrincipal(env.RequestPrincipal)
	if err != nil {
		return in, kerr.PrincipalDeserializationFailure
	}
	h := kbin.Reader{Src: env.RequestData}
	key, version := h.Int16(), h.Int16()
	in.correlation = h.Int32()
	client := h.NullableString()
	in.req = kmsg.RequestForKey(key)
	if in.req == nil || !forwardable(key) {
		return in, kerr.InvalidRequest
	}
	if version < 0 || version > in.req.MaxVersion() {
		return in, kerr.UnsupportedVersion
	}
	in.req.SetVersion(version)
	if in.req.IsFlexible() {
		kmsg.SkipTags(&h)
	}
	if !h.Ok() || in.req.ReadFrom(h.Src) != nil {
		return in, kerr.UnsupportedVersion
	}
	in.from = controller.Origin{Principal: principal, Host: env.ClientHostAddress}
	if client != nil {
		in.from.ClientID = *client
	}
	return in, kerr.None
}

// sealAnswer is the answer with its header, as it goes into the Envelope's response.
func (in *enveloped) sealAnswer(answer kmsg.Response) []byte {
	answer.SetVersion(in.req.GetVersion())
	b := binary.BigEndian.AppendUint32(nil, uint32(in.correlation))
	if answer.IsFlexible() {
		b = append(b, 0)
	}
	return answer.AppendTo(b)
}
