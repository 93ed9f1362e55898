package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/telemetry"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/otlp"
	"github.com/kalda/kalda/internal/wire"
)

// telemetryAPIs are the rows of KIP-714, absent when nobody could see what clients push.
func (b *Broker) telemetryAPIs() []wire.API {
	if b.cfg.TelemetryClients < 0 {
		return nil
	}
	return []wire.API{
		{Key: int16(kmsg.GetTelemetrySubscriptions), Min: 0, Max: 0, Serve: b.serveGetTelemetrySubscriptions},
		{Key: int16(kmsg.PushTelemetry), Min: 0, Max: 0, Serve: b.servePushTelemetry},
	}
}

func clientOf(r *wire.Request, instance [16]byte) telemetry.Client {
	return telemetry.Client{
		Instance: instance, ID: r.ClientID, Software: r.Conn.Software, SoftwareVers: r.Conn.SoftwareVers,
		Address: r.Conn.Remote.Addr().Unmap().String(), Port: r.Conn.Remote.Port(),
	}
}

// serveGetTelemetrySubscriptions tells a client what to push; one without an id gets one.
func (b *Broker) serveGetTelemetrySubscriptions(r *wire.Request) {
	req := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrGetTelemetrySubscriptionsResponse()
	id := req.ClientInstanceID
	if id == ([16]byte{}) {
		id = newInstanceID()
	}
	who := clientOf(r, id)
	plan, code := b.clients.ask(&who)
	if resp.ErrorCode = int16(code); code == kerr.None {
		resp.ClientInstanceID, resp.SubscriptionID = id, plan.ID
		resp.AcceptedCompressionTypes = []int8{
			int8(batch.Zstd), int8(batch.LZ4), int8(batch.Gzip), int8(batch.Snappy),
		}
		resp.PushIntervalMillis = int32(plan.Interval.Milliseconds())
		resp.TelemetryMaxBytes = int32(b.cfg.TelemetryMaxBytes)
		resp.RequestedMetrics = plan.Metrics
	}
	r.Reply(resp)
}

// servePushTelemetry takes a client's metrics, which are then at /metrics until the client is silent.
func (b *Broker) servePushTelemetry(r *wire.Request) {
	req := kmsg.NewPtrPushTelemetryRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrPushTelemetryResponse()
	resp.ErrorCode = int16(b.pushed(r, req))
	r.Reply(resp)
}

func (b *Broker) pushed(r *wire.Request, req *kmsg.PushTelemetryRequest) kerr.Code {
	if req.ClientInstanceID == ([16]byte{}) {
		return kerr.InvalidRequest
	}
	who := clientOf(r, req.ClientInstanceID)
	if code := b.clients.mayPush(&who, req.SubscriptionID, req.Terminating); code != kerr.None {
		return code
	}
	codec := batch.Codec(req.CompressionType)
	switch {
	case codec < batch.None || codec > batch.Zstd:
		return kerr.UnsupportedCompressionType
	case len(req.Metrics) > b.cfg.TelemetryMaxBytes:
		return kerr.TelemetryTooLarge
	case len(req.Metrics) == 0:
		return kerr.None
	}
	raw := req.Metrics
	if codec != batch.None {
		var err error
		if raw, err = b.clients.unpack.Decompress(nil, codec, raw); err != nil {
			b.log.Warn("a client's metrics can't be read", "client", r.ClientID, "remote", r.Conn.Remote, "error", err)
			return kerr.InvalidRecord
		}
	}
	points, err := otlp.Decode(raw, b.cfg.TelemetryMetrics)
	if err != nil {
		b.log.Warn("a client's metrics can't be read", "client", r.ClientID, "remote", r.Conn.Remote, "error", err)
		return kerr.InvalidRecord
	}
	b.clients.keep(&who, points)
	return kerr.None
}
