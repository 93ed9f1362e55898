package broker

import "github.com/kalda/kalda/internal/obs"

// Metrics is what the broker counts; Apache's BrokerTopicMetrics and ReplicaManager. The zero value is ready.
type Metrics struct {
	BytesIn, BytesOut, BytesRejected    obs.Counter
	MessagesIn                          obs.Counter
	ProducePartitions, FetchPartitions  obs.Counter // Total…RequestsPerSec: per partition
	FailedProduce, FailedFetch          obs.Counter // unexpected errors only
	InvalidMagic, InvalidCRC            obs.Counter
	InvalidOffsetOrSequence, NoKey      obs.Counter
	FetchExpired, ProduceExpired        obs.Counter // parked requests whose time was up
	ParkedFetch, ParkedProduce          obs.Gauge
	Partitions, Leaders                 obs.Gauge
	FetchSessions, FetchSessionParts    obs.Gauge
	FetchSessionEvictions               obs.Counter
	OfflineLogDirs, UnderMinISR         obs.Gauge
	RecoveredLogs, RecoveredBytes       obs.Counter
	LogFlush                            obs.Histogram
	ProducerIDs, ProducerIDBlocks       obs.Counter
	LocalAppendFailures, DuplicateBatch obs.Counter
	CleanedLogs, CleanedBytes           obs.Counter
	CleanerRecopy, CleanerBuffer        obs.Gauge // percent, of the last cleaning
	CleanerTime, MaxCompactionDelay     obs.Gauge // s
	MaxDirty                            obs.Gauge // percent
}
