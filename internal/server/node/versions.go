package node

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/wire"
)

// controllerVersions answers ApiVersions on a controller listener.
func (n *Node) controllerVersions(r *wire.Request) {
	req := kmsg.NewPtrApiVersionsRequest()
	if !r.Decode(req) {
		return
	}
	img := n.image.Load()
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ApiKeys = r.Conn.Table().Rows()
	supported := meta.Supported()
	for _, name := range slices.Sorted(maps.Keys(supported)) {
		s := supported[name]
		if s.Min == 0 && r.Version < 4 {
			continue // KAFKA-17011: such clients refuse a minimum of zero
		}
		f := kmsg.NewApiVersionsResponseSupportedFeature()
		f.Name, f.MinVersion, f.MaxVersion = name, s.Min, s.Max
		resp.SupportedFeatures = append(resp.SupportedFeatures, f)
	}
	resp.FinalizedFeaturesEpoch = img.Offset
	for _, name := range slices.Sorted(maps.Keys(img.Features())) {
		f := kmsg.NewApiVersionsResponseFinalizedFeature()
		f.Name, f.MinVersionLevel, f.MaxVersionLevel = name, img.Feature(name), img.Feature(name)
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, f)
	}
	r.Reply(resp)
}
