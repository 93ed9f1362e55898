package broker

import (
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// ServeApiVersions tells what the listener's table serves, and the features of the cluster.
func (b *Broker) ServeApiVersions(r *wire.Request) {
	req := kmsg.NewPtrApiVersionsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	if r.Version >= 3 {
		if !isSoftwareName(req.ClientSoftwareName) || !isSoftwareName(req.ClientSoftwareVersion) {
			resp.ErrorCode = int16(kerr.InvalidRequest)
			r.Reply(resp)
			return
		}
		r.Conn.Software, r.Conn.SoftwareVers = req.ClientSoftwareName, req.ClientSoftwareVersion
	}
	if r.Version >= 5 {
		if code := b.meant(req); code != kerr.None {
			resp.ErrorCode = int16(code)
			r.Reply(resp)
			return
		}
	}
	resp.ApiKeys = r.Conn.Table().Rows()
	b.fillFeatures(resp, r.Version)
	r.Reply(resp)
}

// meant checks whether the client meant this node (KIP-1242): it names cluster and node, or neither.
func (b *Broker) meant(req *kmsg.ApiVersionsRequest) kerr.Code {
	switch {
	case req.ClusterID == nil && req.NodeID == -1:
		return kerr.None
	case req.ClusterID == nil || req.NodeID == -1:
		return kerr.InvalidRequest
	case *req.ClusterID != b.cfg.ClusterID || req.NodeID != int32(b.cfg.NodeID):
		return kerr.RebootstrapRequired
	}
	return kerr.None
}

// isSoftwareName accepts letters, digits, dashes and dots that begin and end with a letter or a digit.
func isSoftwareName(s string) bool {
	for i := range len(s) {
		c := s[i]
		inner := i > 0 && i < len(s)-1
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && !(inner && (c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// featureAPIs are the features that promise an API. A client that reads of the feature uses the API, so the
// feature is told only once the API is served.
var featureAPIs = [...]struct {
	feature string
	key     kmsg.Key
}{
	{meta.FeatureTransaction, kmsg.EndTxn},
	{meta.FeatureGroup, kmsg.ConsumerGroupHeartbeat},
	{meta.FeatureShare, kmsg.ShareGroupHeartbeat},
	{meta.FeatureStreams, kmsg.StreamsGroupHeartbeat},
}

func promised(feature string, rows []kmsg.ApiVersionsResponseApiKey) bool {
	for _, f := range featureAPIs {
		if f.feature == feature {
			i := sort.Search(len(rows), func(i int) bool { return rows[i].ApiKey >= int16(f.key) })
			return i < len(rows) && rows[i].ApiKey == int16(f.key)
		}
	}
	return true
}

func (b *Broker) fillFeatures(resp *kmsg.ApiVersionsResponse, version int16) {
	if version < 3 {
		return
	}
	supported := meta.Supported()
	for _, name := range sortedNames(supported) {
		f := supported[name]
		// Clients of v3 take a minimum of 0 for an error (KAFKA-17011).
		if !promised(name, resp.ApiKeys) || f.Min == 0 && version < 4 {
			continue
		}
		row := kmsg.NewApiVersionsResponseSupportedFeature()
		row.Name, row.MinVersion, row.MaxVersion = name, f.Min, f.Max
		resp.SupportedFeatures = append(resp.SupportedFeatures, row)
	}
	img := b.Image()
	resp.FinalizedFeaturesEpoch = img.Offset
	for _, name := range sortedNames(img.Features()) {
		level := img.Features()[name]
		if level == 0 || !promised(name, resp.ApiKeys) {
			continue
		}
		row := kmsg.NewApiVersionsResponseFinalizedFeature()
		row.Name, row.MinVersionLevel, row.MaxVersionLevel = name, level, level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, row)
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
