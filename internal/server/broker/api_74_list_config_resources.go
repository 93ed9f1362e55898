package broker

import (
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// listedKinds are the kinds of resources that ListConfigResources tells of.
var listedKinds = []int8{
	int8(meta.ConfigTopic), int8(meta.ConfigBroker), int8(meta.ConfigBrokerLogger),
	int8(meta.ConfigClientMetrics), int8(meta.ConfigGroup),
}

// serveListConfigResources lists what configs can be described of: every topic and live broker, and of
// groups and client metrics those that have any. Version 0 knows client metrics alone (KIP-1142).
func (b *Broker) serveListConfigResources(r *wire.Request) {
	req := kmsg.NewPtrListConfigResourcesRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrListConfigResourcesResponse()
	kinds := req.ResourceTypes
	switch {
	case r.Version == 0:
		kinds = []int8{int8(meta.ConfigClientMetrics)}
	case len(kinds) == 0:
		kinds = listedKinds
	}
	for _, k := range kinds {
		if !slices.Contains(listedKinds, k) {
			resp.ErrorCode = int16(kerr.UnsupportedVersion)
			r.Reply(resp)
			return
		}
	}
	img := b.Image()
	for i, k := range kinds {
		if slices.Contains(kinds[:i], k) {
			continue
		}
		for _, name := range b.resourcesOf(img, r, meta.ConfigKind(k)) {
			res := kmsg.NewListConfigResourcesResponseConfigResource()
			res.Name, res.Type = name, k
			resp.ConfigResources = append(resp.ConfigResources, res)
		}
	}
	r.Reply(resp)
}

func (b *Broker) resourcesOf(img *meta.Image, r *wire.Request, kind meta.ConfigKind) (names []string) {
	switch kind {
	case meta.ConfigTopic:
		for t := range img.Topics() {
			names = append(names, t.Name)
		}
	case meta.ConfigBroker, meta.ConfigBrokerLogger:
		for _, n := range b.nodes(img, r, false) {
			names = append(names, strconv.Itoa(int(n.id)))
		}
	default:
		for res := range img.Configs() {
			if res.Kind == kind {
				names = append(names, res.Name)
			}
		}
	}
	return names
}
