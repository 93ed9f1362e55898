// Package replica is the state of one partition's replica, decided without I/O: its producers and their
// transactions, and the sessions of those who fetch from it.
//
// Role: Producers answers "may this batch be appended, or is it one that is here already?" and knows the last
// stable offset. Sessions remembers what a fetching client asked for, so that it need not say it again
// (KIP-227).
//
// Invariants: a producer's remembered batches have consecutive sequences of one epoch; open transactions are
// ordered by first offset; the last stable offset never exceeds the high watermark it was asked with.
//
// Neither type locks: the partition's owner calls Producers, the cache's owner calls Sessions.
package replica
