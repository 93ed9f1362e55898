// Package batch is the record batch of Kafka's log, format version 2: views, records, building, compression,
// validation.
package batch
