package broker

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// The kinds of endpoints that DescribeCluster v1+ can ask for.
const (
	endpointBrokers     = 1
	endpointControllers = 2
)

// serveDescribeCluster tells of the brokers.
func (b *Broker) serveDescribeCluster(r *wire.Request) {
	req := kmsg.NewPtrDescribeClusterRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDescribeClusterResponse()
	resp.ControllerID, resp.ClusterAuthorizedOperations = -1, notRequested
	resp.EndpointType = endpointBrokers
	if r.Version >= 1 {
		switch req.EndpointType {
		case endpointBrokers:
		case endpointControllers:
			text := "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
			resp.ErrorCode, resp.ErrorMessage = int16(kerr.MismatchedEndpointType), &text
			r.Reply(resp)
			return
		default:
			text := "Unsupported endpoint type " + strconv.Itoa(int(req.EndpointType))
			resp.ErrorCode, resp.ErrorMessage = int16(kerr.UnsupportedEndpointType), &text
			r.Reply(resp)
			return
		}
	}
	list := b.nodes(b.Image(), r, r.Version >= 2 && req.IncludeFencedBrokers)
	for _, n := range list {
		k := kmsg.NewDescribeClusterResponseBroker()
		k.NodeID, k.Host, k.Port, k.Rack, k.IsFenced = int32(n.id), n.host, n.port, n.rack, n.fenced
		resp.Brokers = append(resp.Brokers, k)
	}
	resp.ClusterID, resp.ControllerID = b.cfg.ClusterID, controllerFor(list, r)
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	r.Reply(resp)
}
