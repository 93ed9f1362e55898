// Package kraft decides for one replica of a KRaft quorum: elections, epochs, log reconciliation, high watermark, snapshots.
package kraft
