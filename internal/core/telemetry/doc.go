// Package telemetry decides which of their own metrics clients push to a broker, how often, and whether a
// push is to be taken (KIP-714): pure, with time as an argument.
//
// A Set is what the cluster's configuration says, immutable. Clients is the memory of who was told
// what: bounded, for one goroutine at a time.
package telemetry
