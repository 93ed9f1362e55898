package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// adminAPIs are the rows about the cluster, topics and configs.
func (b *Broker) adminAPIs() []wire.API {
	return []wire.API{
		{Key: int16(kmsg.Metadata), Min: 0, Max: 13, Serve: b.serveMetadata},
		{Key: int16(kmsg.ApiVersions), Min: 0, Max: 5, Serve: b.ServeApiVersions},
		{Key: int16(kmsg.CreateTopics), Min: 2, Max: 7, Serve: b.serveCreateTopics},
		{Key: int16(kmsg.DeleteTopics), Min: 1, Max: 6, Serve: b.serveDeleteTopics},
		{Key: int16(kmsg.DescribeConfigs), Min: 1, Max: 4, Serve: b.serveDescribeConfigs},
		{Key: int16(kmsg.AlterConfigs), Min: 0, Max: 2, Serve: b.serveAlterConfigs},
		{Key: int16(kmsg.DescribeLogDirs), Min: 1, Max: 5, Serve: b.serveDescribeLogDirs},
		{Key: int16(kmsg.CreatePartitions), Min: 0, Max: 3, Serve: b.serveCreatePartitions},
		{Key: int16(kmsg.IncrementalAlterConfigs), Min: 0, Max: 1, Serve: b.serveIncrementalAlterConfigs},
		{Key: int16(kmsg.DescribeClientQuotas), Min: 0, Max: 1, Serve: b.serveDescribeClientQuotas},
		{Key: int16(kmsg.AlterClientQuotas), Min: 0, Max: 1, Serve: b.serveAlterClientQuotas},
		{Key: int16(kmsg.DescribeQuorum), Min: 0, Max: 2, Serve: b.serveDescribeQuorum},
		{Key: int16(kmsg.DescribeCluster), Min: 0, Max: 2, Serve: b.serveDescribeCluster},
		{Key: int16(kmsg.ElectLeaders), Min: 0, Max: 2, Serve: b.serveElectLeaders},
		{Key: int16(kmsg.AlterPartitionAssignments), Min: 0, Max: 1, Serve: b.serveAlterPartitionReassignments},
		{Key: int16(kmsg.ListPartitionReassignments), Min: 0, Max: 0, Serve: b.serveListPartitionReassignments},
		{Key: int16(kmsg.UpdateFeatures), Min: 0, Max: 2, Serve: b.serveUpdateFeatures},
		{Key: int16(kmsg.UnregisterBroker), Min: 0, Max: 0, Serve: b.serveUnregisterBroker},
		{Key: int16(kmsg.UnregisterController), Min: 0, Max: 0, Serve: b.serveUnregisterController},
		{Key: int16(kmsg.ListConfigResources), Min: 0, Max: 1, Serve: b.serveListConfigResources},
		{Key: int16(kmsg.DescribeTopicPartitions), Min: 0, Max: 0, Serve: b.serveDescribeTopicPartitions},
	}
}

// The operations that a principal may do, as bits by the number of the operation. There is no authorizer
// yet: all of those that exist for the kind of resource.
const (
	topicOperations   int32 = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11
	clusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
	notRequested      int32 = -1 << 31
)

func strOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
