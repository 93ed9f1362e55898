package node

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/obs"
	"github.com/kalda/kalda/internal/server/broker"
	"github.com/kalda/kalda/internal/wire"
)

// metrics is what the parts of a node count.
type metrics struct {
	wire   wire.Metrics
	broker broker.Metrics
}

// The names are those of Apache's JMX objects as the usual exporter rules render them (reference broker.md
// 10).
const (
	topicMetrics   = "kafka_server_brokertopicmetrics_"
	replicaManager = "kafka_server_replicamanager_"
	requestMetrics = "kafka_network_requestmetrics_"
	socketServer   = "kafka_network_socketserver_"
	controllerName = "kafka_controller_kafkacontroller_"
)

func counter(name, help string, labels ...string) *obs.Desc {
	return &obs.Desc{Name: name, Help: help, Kind: obs.KindCounter, Labels: labels}
}

func gauge(name, help string, labels ...string) *obs.Desc {
	return &obs.Desc{Name: name, Help: help, Kind: obs.KindGauge, Labels: labels}
}

// register shows everything; nothing is computed before the first scrape.
func (n *Node) register() {
	n.registerSockets()
	n.registerRequests()
	if n.cfg.Broker {
		n.registerBroker()
		n.registerGroups()
	}
	if n.cfg.Controller {
		n.registerController()
	}
}

func (n *Node) registerSockets() {
	w := &n.metrics.wire
	n.reg.Counter(counter("kafka_server_socket_server_metrics_connection_creation_total",
		"Connections accepted."),
		&w.Accepted)
	n.reg.Counter(counter("kafka_server_socket_server_metrics_connection_refused_total",
		"Connections over a limit."),
		&w.Refused)
	n.reg.Gauge(gauge("kafka_server_socket_server_metrics_connection_count", "Connections open."),
		&w.Connections)
	n.reg.Counter(counter(socketServer+"idleconnectionsclosed_total", "Connections closed for idleness."),
		&w.IdleClosed)
	n.reg.Counter(counter(socketServer+"badframes_total", "Connections closed for what they sent."),
		&w.BadFrames)
	n.reg.Func(gauge(socketServer+"memorypoolused", "Bytes that requests hold."), func() float64 {
		return float64(n.wire.MemoryUsed())
	})
}

func (n *Node) registerRequests() {
	total := counter(requestMetrics+"requests_total", "Requests, by API.", "request")
	times := &obs.Desc{
		Name: requestMetrics + "totaltimems", Help: "Time from a request's arrival to its answer.",
		Kind: obs.KindTimer, Labels: []string{"request"},
	}
	n.reg.OnScrape(func(emit func(obs.Sample)) {
		for key := range n.metrics.wire.Requests {
			m := &n.metrics.wire.Requests[key]
			if m.Count.Load() == 0 {
				continue
			}
			name := []string{kmsg.NameForKey(int16(key))}
			emit(obs.Sample{Desc: total, Values: name, Value: float64(m.Count.Load())})
			emit(obs.Sample{Desc: times, Values: name, Hist: &m.Total})
		}
	})
}

func (n *Node) registerBroker() {
	b := &n.metrics.broker
	n.reg.OnScrape(n.broker.ClientMetrics)
	for _, c := range []struct {
		name, help string
		count      *obs.Counter
	}{
		{"messagesin_total", "Records appended by clients.", &b.MessagesIn},
		{"bytesin_total", "Bytes that clients produced.", &b.BytesIn},
		{"bytesout_total", "Bytes that clients fetched.", &b.BytesOut},
		{"bytesrejected_total", "Bytes of batches that were refused.", &b.BytesRejected},
		{"totalproducerequests_total", "Partitions in Produce requests.", &b.ProducePartitions},
		{"totalfetchrequests_total", "Partitions in Fetch requests.", &b.FetchPartitions},
		{
			"failedproducerequests_total", "Produce requests that failed unexpectedly, by partition.",
			&b.FailedProduce,
		},
		{"failedfetchrequests_total", "Fetch requests that failed unexpectedly, by partition.", &b.FailedFetch},
		{"invalidmagicnumberrecords_total", "Batches of an unknown format.", &b.InvalidMagic},
		{"invalidmessagecrcrecords_total", "Batches whose checksum is wrong.", &b.InvalidCRC},
		{
			"invalidoffsetorsequencerecords_total", "Batches with wrong offsets or sequences.",
			&b.InvalidOffsetOrSequence,
		},
		{"nokeycompactedtopicrecords_total", "Records without a key for compacted topics.", &b.NoKey},
	} {
		n.reg.Counter(counter(topicMetrics+c.name, c.help), c.count)
	}
	n.reg.Gauge(gauge(replicaManager+"partitioncount", "Partitions hosted."), &b.Partitions)
	n.reg.Gauge(gauge(replicaManager+"leadercount", "Partitions led."), &b.Leaders)
	n.reg.Gauge(gauge(replicaManager+"underminisrpartitioncount", "Partitions below min.insync.replicas."),
		&b.UnderMinISR)
	n.reg.Func(gauge(replicaManager+"underreplicatedpartitions", "Partitions led with replicas out of sync."),
		n.underReplicated)
	n.reg.Gauge(gauge("kafka_log_logmanager_offlinelogdirectorycount", "Log directories that failed."),
		&b.OfflineLogDirs)
	n.reg.Gauge(gauge("kafka_server_fetchsessioncache_numincrementalfetchsessions", "Fetch sessions."),
		&b.FetchSessions)
	n.reg.Func(gauge("kafka_server_kafkaserver_brokerstate",
		"1 starting, 2 recovery, 3 running, 6 and 7 stopping."),
		func() float64 { return float64(n.life.state.Load()) })
	n.registerCleaner()
	info := gauge("kafka_server_kafkaserver_clusterid", "Always 1; which cluster and node this is.",
		"cluster", "node")
	n.reg.Func(info, func() float64 { return 1 }, n.id.cluster, strconv.Itoa(int(n.cfg.NodeID)))
}

func (n *Node) underReplicated() (count float64) {
	for t := range n.image.Load().Topics() {
		for _, p := range t.Partitions {
			if int32(p.Leader) == n.cfg.NodeID && len(p.ISR) < len(p.Replicas)-len(p.Adding) {
				count++
			}
		}
	}
	return count
}

func (n *Node) registerController() {
	n.reg.Func(gauge(controllerName+"activecontrollercount", "1 on the active controller."), func() float64 {
		if n.channel.leading() {
			return 1
		}
		return 0
	})
	topics := gauge(controllerName+"globaltopiccount", "Topics of the cluster.")
	partitions := gauge(controllerName+"globalpartitioncount", "Partitions of the cluster.")
	offline := gauge(controllerName+"offlinepartitionscount", "Partitions without a leader.")
	brokers := gauge(controllerName+"activebrokercount", "Brokers registered and not fenced.")
	fenced := gauge(controllerName+"fencedbrokercount", "Brokers registered and fenced.")
	n.reg.OnScrape(func(emit func(obs.Sample)) {
		var t, p, off, active, out float64
		img := n.image.Load()
		for topic := range img.Topics() {
			t++
			p += float64(len(topic.Partitions))
			for _, part := range topic.Partitions {
				if part.Leader < 0 {
					off++
				}
			}
		}
		for b := range img.Brokers() {
			if b.Fenced {
				out++
			} else {
				active++
			}
		}
		for _, s := range []obs.Sample{
			{Desc: topics, Value: t},
			{Desc: partitions, Value: p},
			{Desc: offline, Value: off},
			{Desc: brokers, Value: active},
			{Desc: fenced, Value: out},
		} {
			emit(s)
		}
	})
}
