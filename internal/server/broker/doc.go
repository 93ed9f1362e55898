// Package broker is the Kafka API of a node: one file per API key, the partitions it hosts, and where parked
// requests wait.
//
// A Broker has an immutable metadata image behind one pointer and a table of partitions behind another.
// ApplyImage makes the partitions that a new image asks for before the image becomes visible, so a leader is
// only ever announced once it can be written to.
//
// The way of a record: wire reads the frame, api_00_produce.go slices the batches out of it,
// partition_append.go checks and stamps them in place and gives them to the log in one write under the
// partition's lock; api_01_fetch.go finds the file range and wire sends it from the page cache.
package broker
