// Package broker serves the Kafka API: one file per API key.
package broker
