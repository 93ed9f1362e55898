package node

import (
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

const (
	endpointBrokers     int8  = 1
	endpointControllers int8  = 2
	notRequested        int32 = -1 << 31
	// describe, alter, cluster action, and so on; there is no authorizer yet.
	clusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12

	mvControllers int16 = 15 // 3.7-IV0: controllers register
)

// describeControllers answers DescribeCluster on a controller's listener (KIP-919): with the controllers,
// and which of them is active.
func (n *Node) describeControllers(r *wire.Request) {
	req := kmsg.NewPtrDescribeClusterRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDescribeClusterResponse()
	resp.ControllerID, resp.ClusterAuthorizedOperations = -1, notRequested
	resp.EndpointType = endpointControllers
	img := n.image.Load()
	fail := func(code kerr.Code, text string) {
		resp.ErrorCode, resp.ErrorMessage = int16(code), &text
		r.Reply(resp)
	}
	kind := req.EndpointType
	if r.Version == 0 {
		kind = endpointBrokers
	}
	switch {
	case kind == endpointBrokers:
		fail(kerr.MismatchedEndpointType,
			"The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER")
		return
	case kind != endpointControllers:
		fail(kerr.UnsupportedEndpointType, "Unsupported endpoint type "+strconv.Itoa(int(kind)))
		return
	case img.MetadataVersion() < mvControllers:
		fail(kerr.UnsupportedVersion, "Direct-to-controller communication is not supported with the current "+
			"MetadataVersion.")
		return
	}
	for c := range img.Controllers() {
		if e := controllerAt(c, r.Conn.Listener); e != nil {
			row := kmsg.NewDescribeClusterResponseBroker()
			row.NodeID, row.Host, row.Port = int32(c.ID), e.Host, int32(e.Port)
			resp.Brokers = append(resp.Brokers, row)
		}
	}
	leader, _ := n.quorum.Leader()
	resp.ClusterID, resp.ControllerID = n.id.cluster, int32(leader)
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	r.Reply(resp)
}

// controllerAt is where a controller listens under a listener's name, nil if it doesn't.
func controllerAt(c *meta.Controller, listener string) *meta.Endpoint {
	i := slices.IndexFunc(c.Endpoints, func(e meta.Endpoint) bool { return e.Name == listener })
	if i < 0 {
		return nil
	}
	return &c.Endpoints[i]
}
