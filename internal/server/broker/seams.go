package broker

import (
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/wire"
)

// Origin is who sent a request, as far as the controller or a coordinator needs to know.
type Origin struct {
	Principal string // Type:name
	ClientID  string
	Host      net.IP
	Listener  string
}

// originOf is the origin of a client's request.
func originOf(r *wire.Request) Origin {
	host := r.Conn.Remote.Addr().Unmap().AsSlice()
	return Origin{Principal: r.Conn.Principal, ClientID: r.ClientID, Host: host, Listener: r.Conn.Listener}
}

// Forward takes requests to the active controller, wherever it is. reply is called once, perhaps before
// Forward returns, on any goroutine.
type Forward interface {
	Forward(req kmsg.Request, from Origin, reply func(kmsg.Response))
}

// Groups is the group coordinator, as far as the broker calls it.
type Groups interface {
	// Submit gives a request to the shard of a partition of __consumer_offsets. reply is called once, perhaps
	// before Submit returns, on any goroutine.
	Submit(partition int32, in group.Input, reply func(group.Output))
	// List asks all shards here for their groups.
	List(in *group.List, reply func(*group.Listed))
	// Lead tells that this node now leads a partition of __consumer_offsets in an epoch.
	Lead(partition, epoch int32, p *Partition)
	// Resign tells that it doesn't lead it any more.
	Resign(partition, epoch int32)
	// Deleted tells which topics are gone, so that their offsets go too.
	Deleted(topics []string)
}

// Transactions is the transaction coordinator, as far as the broker calls it.
type Transactions interface {
	// Submit gives a request to the shard of a partition of __transaction_state. reply is called once, perhaps
	// before Submit returns, on any goroutine.
	Submit(partition int32, in txn.Input, reply func(txn.Output))
	// Each asks all shards here that may hold something.
	Each(in txn.Input, patient bool, reply func([]txn.Output))
	// Lead tells that this node now leads a partition of __transaction_state in an epoch.
	Lead(partition, epoch int32, p *Partition)
	// Resign tells that it doesn't lead it any more.
	Resign(partition, epoch int32)
}

// leader is told which partitions of a coordinator's topic this node leads.
type leader interface {
	Lead(partition, epoch int32, p *Partition)
	Resign(partition, epoch int32)
}

// coordinatorOf is who coordinates over a topic, nil for nobody.
func (b *Broker) coordinatorOf(topic string) leader {
	switch {
	case topic == offsetsTopic && b.cfg.Groups != nil:
		return b.cfg.Groups
	case topic == transactionsTopic && b.cfg.Transactions != nil:
		return b.cfg.Transactions
	}
	return nil
}

// forward serves a request by sending it to the controller.
func (b *Broker) forward(r *wire.Request, req kmsg.Request) {
	if !r.Decode(req) {
		return
	}
	b.cfg.Forward.Forward(req, originOf(r), r.Reply)
}
