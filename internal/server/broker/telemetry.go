package broker

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/telemetry"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/otlp"
	"github.com/kalda/kalda/internal/obs"
)

// clientMetrics is what clients tell about themselves (KIP-714): the last value of each of their metrics.
type clientMetrics struct {
	now    func() time.Time
	unpack batch.Decompressor

	mu      sync.Mutex
	set     *telemetry.Set
	clients *telemetry.Clients
	values  map[[16]byte]*clientValues
}

// clientValues are one client's metrics, by name and labels.
type clientValues struct {
	id     string // client.id
	series map[string]*otlp.Point
}

// maxUnpacked bounds how much a push of telemetry.max.bytes may grow when it is decompressed.
const maxUnpacked = 16

func (m *clientMetrics) init(c *Config) {
	m.now = c.Now
	m.set = new(telemetry.Set)
	m.values = map[[16]byte]*clientValues{}
	m.clients = telemetry.NewClients(c.TelemetryClients, func(id [16]byte) { delete(m.values, id) })
	m.unpack.MaxBytes = maxUnpacked * c.TelemetryMaxBytes
}

// apply takes over the subscriptions of an image, if d says that they changed.
func (m *clientMetrics) apply(img *meta.Image, d *meta.Delta) {
	changed := d.Snapshot
	for c := range d.Configs {
		changed = changed || c.Kind == meta.ConfigClientMetrics
	}
	if !changed {
		return
	}
	set := new(telemetry.Set)
	for c, values := range img.Configs() {
		if c.Kind == meta.ConfigClientMetrics {
			set.Subscriptions = append(set.Subscriptions, telemetry.NewSubscription(c.Name, values))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	set.Generation = m.set.Generation + 1
	m.set = set
}

func (m *clientMetrics) ask(who *telemetry.Client) (telemetry.Plan, kerr.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.clients.Expire(now)
	return m.clients.Ask(now, who, m.set)
}

func (m *clientMetrics) mayPush(who *telemetry.Client, id int32, terminating bool) kerr.Code {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.clients.Expire(now)
	return m.clients.Push(now, who, m.set, id, terminating)
}

// keep takes over a push. Clients are asked for totals; what one grew by is added up all the same.
func (m *clientMetrics) keep(who *telemetry.Client, points []otlp.Point) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.clients.Knows(who.Instance) { // forgotten while its push was unpacked
		return
	}
	v := m.values[who.Instance]
	if v == nil {
		v = &clientValues{id: who.ID, series: map[string]*otlp.Point{}}
		m.values[who.Instance] = v
	}
	next := make(map[string]*otlp.Point, len(points))
	for i := range points {
		p := &points[i]
		key := seriesKey(p)
		if old := v.series[key]; old != nil && p.Delta {
			p.Value += old.Value
		}
		next[key] = p
	}
	v.series = next
}

func seriesKey(p *otlp.Point) string {
	var b strings.Builder
	b.WriteString(p.Name)
	for _, l := range p.Labels {
		b.WriteByte(0)
		b.WriteString(l.Name)
		b.WriteByte(1)
		b.WriteString(l.Value)
	}
	return b.String()
}

func newInstanceID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ClientMetrics emits what clients pushed, under their own names, with the labels that they gave and two of
// ours.
func (b *Broker) ClientMetrics(emit func(obs.Sample)) {
	m := &b.clients
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients.Expire(m.now())
	for instance, v := range m.values {
		for _, p := range v.series {
			emit(sample(instance, v.id, p))
		}
	}
}

func sample(instance [16]byte, client string, p *otlp.Point) obs.Sample {
	d := &obs.Desc{
		Name: promName(p.Name), Help: "Told by clients (KIP-714).", Kind: obs.KindGauge,
		Labels: []string{"client_id", "client_instance_id"},
	}
	s := obs.Sample{Desc: d, Value: p.Value, Values: []string{
		strings.ToValidUTF8(client, "?"), hex.EncodeToString(instance[:]),
	}}
	if p.Total {
		d.Name += "_total"
		d.Kind = obs.KindCounter
	}
	for _, l := range p.Labels {
		name := promName(l.Name)
		if !slices.Contains(d.Labels, name) {
			d.Labels = append(d.Labels, name)
			s.Values = append(s.Values, strings.ToValidUTF8(l.Value, "?"))
		}
	}
	return s
}

// promName makes a name of letters, digits and underscores that begins with a letter.
func promName(s string) string {
	b := []byte(s)
	for i, c := range b {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') {
			b[i] = '_'
		}
	}
	if len(b) == 0 || b[0] >= '0' && b[0] <= '9' || b[0] == '_' {
		b = append([]byte("client"), b...)
	}
	return string(b)
}
