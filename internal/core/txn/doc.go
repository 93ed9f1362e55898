// Package txn decides for transactions: which producer owns a transactional id, what its transaction has
// touched, and how it ends.
//
// One Core holds the transactional ids of one partition of __transaction_state. It is fed requests, records
// read back from that partition, and the time; out of it come records to append, replies, markers to be
// written to the partitions of a transaction, and wishes for producer ids.
//
// States of a transactional id (reference broker.md 7):
//
//	from                    event                                  to
//	(none)                  InitProducerId                         Empty
//	Empty, Complete*        InitProducerId                         Empty, a newer epoch or producer id
//	Empty, Complete*        partitions are added                   Ongoing
//	Ongoing                 EndTxn                                 PrepareCommit, PrepareAbort
//	Ongoing                 time-out, InitProducerId of another    PrepareAbort, a newer epoch
//	Empty, Complete*        EndTxn(abort), transaction.version 2   PrepareAbort: what was sent but not added
//	Prepare*                all markers are written                Complete*
//	Empty, Complete*        unused for so long                     (none)
//
// Invariants:
//   - Once Prepare* is appended its outcome never changes: markers are sent until they are all written, also
//     by the coordinator after this one.
//   - A request with another producer id or epoch than the current ones changes nothing, but for the retries
//     that transaction.version 2 knows.
//   - The pair of producer id and epoch that a client is told was never told to another one.
//   - Nothing depends on the order of a Go map.
//
// State changes before the records that tell of it are committed. The driver holds back replies and markers
// until all records drained before them, and with them, are committed; if they can't be appended it calls
// Rollback. So there is no pending state as in Apache's coordinator: who asks meanwhile is answered from the
// state that will be, and hears it when it is.
package txn
