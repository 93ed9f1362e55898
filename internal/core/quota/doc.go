// Package quota decides how long a client of a broker has to wait: pure, with time as an argument
// (broker.md 9, KIP-13, KIP-124, KIP-219, KIP-599, KIP-612).
//
// Limits is what the cluster's metadata says, immutable. A Meter keeps what clients used of one Kind in the
// last window and tells the delay when they use too much; Tokens is its sibling for changes of the cluster,
// which may come in bursts. Both remember a bounded number of clients, and are for one goroutine at a time.
package quota
