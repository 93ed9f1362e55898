// Package otlp reads the metrics that Kafka's clients push (KIP-714): OpenTelemetry's MetricsData message,
// version 1, as far as a number with a name and labels goes. What a reader of metrics has no use for, such as
// exemplars and units, is passed over. A histogram gives its count and its sum.
package otlp
