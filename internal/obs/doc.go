// Package obs is what a node says about itself: counters, gauges and histograms under the names that
// operators of Apache Kafka know, and the log.
//
// A metric is an atomic word in the struct of whoever counts. The Registry only knows where the words are;
// names are rendered when /metrics is scraped, and the Prometheus library is first touched by that scrape,
// so metrics cost nothing at start and an atomic add afterwards.
//
// Names are those of the usual JMX exporter rules:
// kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=x becomes
// kafka_server_brokertopicmetrics_messagesin_total{topic="x"}.
package obs
