package broker

import (
	"sort"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/wire"
)

// node is a broker as clients are told of it.
type node struct {
	id     meta.NodeID
	host   string
	port   int32
	rack   *string
	fenced bool
}

// nodes are the brokers that can be reached under the listener that r came in on, by id; fenced ones only
// if asked for.
func (b *Broker) nodes(img *meta.Image, r *wire.Request, fenced bool) []node {
	var list []node
	alone := true
	for k := range img.Brokers() {
		alone = alone && k.ID == b.cfg.NodeID
		if k.Fenced && !fenced {
			continue
		}
		if e := endpoint(k, r.Conn.Listener); e != nil {
			list = append(list, node{k.ID, e.Host, int32(e.Port), strOrNil(k.Rack), k.Fenced})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].id < list[j].id })
	if len(list) == 1 && alone && !b.cfg.Announced {
		// Nobody said where clients find this node, but this one found it.
		local := r.Conn.Local
		list[0].host, list[0].port = local.Addr().Unmap().WithZone("").String(), int32(local.Port())
	}
	return list
}

// endpoint is where a broker listens under a listener's name, nil if it doesn't.
func endpoint(k *meta.Broker, listener string) *meta.Endpoint {
	for i := range k.Endpoints {
		if k.Endpoints[i].Name == listener {
			return &k.Endpoints[i]
		}
	}
	return nil
}

// controllerFor is the id that clients are told as the controller's: of any live broker, which forwards
// what is the controller's to answer (KIP-631). Different connections get different ones.
func controllerFor(list []node, r *wire.Request) int32 {
	var live []node
	for _, n := range list {
		if !n.fenced {
			live = append(live, n)
		}
	}
	if len(live) == 0 {
		return -1
	}
	return int32(live[uint64(r.Conn.ID)%uint64(len(live))].id)
}
