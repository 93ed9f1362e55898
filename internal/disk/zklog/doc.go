// Package zklog is ZooKeeper's data directory: transaction logs, snapshots and the small files beside them,
// byte for byte as Apache ZooKeeper 3.9 writes them (and reading what 3.4 to 3.8 wrote).
//
//	<dataDir>/myid, initialize, version-2/snapshot.<zxid>[.gz|.snappy], acceptedEpoch, currentEpoch
//	<dataLogDir>/version-2/log.<zxid>
//
// A log file is a header of 16 bytes, records (Adler-32, length, transaction, 'B') and zeros, written ahead
// so that a sync changes no metadata. A transaction here is its bytes: TxnHeader, body, and the digest if
// there is one, exactly what was proposed. What was synced is either read back or reported: see tail.go for
// what is a torn tail, which is cut, and what is damage, which is refused with file and offset.
//
// One goroutine appends, syncs, rolls and truncates; snapshots, purges and readers may run beside it.
package zklog
