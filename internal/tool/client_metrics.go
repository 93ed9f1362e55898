package tool

import (
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientMetrics counts what --print-metrics shows, under the names of Apache's client: those of its metrics
// that this client has.
type clientMetrics struct {
	connects, disconnects       atomic.Int64
	requests, responses         atomic.Int64
	sent, received              atomic.Int64
	batches, records, batchSize atomic.Int64
	fetched, fetchedBytes       atomic.Int64
}

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (m *clientMetrics) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil {
		m.connects.Add(1)
	}
}

// OnBrokerDisconnect implements kgo.HookBrokerDisconnect.
func (m *clientMetrics) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) { m.disconnects.Add(1) }

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (m *clientMetrics) OnBrokerE2E(_ kgo.BrokerMetadata, _ int16, e kgo.BrokerE2E) {
	m.requests.Add(1)
	m.sent.Add(int64(e.BytesWritten))
	if e.BytesRead > 0 {
		m.responses.Add(1)
		m.received.Add(int64(e.BytesRead))
	}
}

// OnProduceBatchWritten implements kgo.HookProduceBatchWritten.
func (m *clientMetrics) OnProduceBatchWritten(_ kgo.BrokerMetadata, _ string, _ int32,
	b kgo.ProduceBatchMetrics,
) {
	m.batches.Add(1)
	m.records.Add(int64(b.NumRecords))
	m.batchSize.Add(int64(b.CompressedBytes))
}

// OnFetchBatchRead implements kgo.HookFetchBatchRead.
func (m *clientMetrics) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32,
	b kgo.FetchBatchMetrics,
) {
	m.fetched.Add(int64(b.NumRecords))
	m.fetchedBytes.Add(int64(b.CompressedBytes))
}

// print shows the metrics as a table: names on the left, as wide as the longest.
func (m *clientMetrics) print(w io.Writer, kind, client string) {
	type row struct {
		group, name string
		value       int64
	}
	group := kind + "-metrics"
	rows := []row{
		{group, "connection-close-total", m.disconnects.Load()},
		{group, "connection-creation-total", m.connects.Load()},
		{group, "incoming-byte-total", m.received.Load()},
		{group, "outgoing-byte-total", m.sent.Load()},
	}
	if kind == "producer" {
		rows = append([]row{{group, "batch-size-avg", m.batchSize.Load() / max(m.batches.Load(), 1)}}, rows...)
		rows = append(rows, row{group, "record-send-total", m.records.Load()},
			row{group, "records-per-request-avg", m.records.Load() / max(m.batches.Load(), 1)})
	} else {
		const fetches = "consumer-fetch-manager-metrics"
		rows = append([]row{
			{fetches, "bytes-consumed-total", m.fetchedBytes.Load()},
			{fetches, "records-consumed-total", m.fetched.Load()},
		}, rows...)
	}
	rows = append(rows, row{group, "request-total", m.requests.Load()}, row{
		group, "response-total",
		m.responses.Load(),
	})
	width := len("Metric Name")
	label := func(r row) string { return fmt.Sprintf("%s:%s:{client-id=%s}", r.group, r.name, client) }
	for _, r := range rows {
		width = max(width, len(label(r)))
	}
	fmt.Fprintf(w, "\n%-*s   Value\n", width, "Metric Name")
	for _, r := range rows {
		fmt.Fprintf(w, "%-*s : %d.000\n", width, label(r), r.value)
	}
}
