// Package seglog keeps partitions' logs in Kafka's directories and files, byte for byte as Apache Kafka 4
// does.
//
// A Dir is one entry of log.dirs; a Log is one partition in it: segments of record batches, each with an
// offset, a time and a transaction index, producer snapshots, and a leader epoch checkpoint. The package
// knows formats and durability, not policy: what may be appended, read or deleted is decided by its owner,
// who passes the time and the high watermark in.
//
// # Laziness
//
// A new log touches no disk until its first Append. A log that was closed cleanly is opened from its
// directory's listing; its files are read ("waking" it) when it is first used. Files are opened when needed
// and closed when idle.
//
// # Concurrency
//
// All methods are safe for concurrent use. What changes a log takes its mutex; nothing waits for a sync
// under it. Readers don't take it: they find the segments in an immutable list behind an atomic pointer, and
// the end of the log in a ring of the last appends' positions. A Slice keeps its file open until it is
// released, whatever happens to the segment meanwhile.
//
// # Durability
//
// Append writes to the page cache: it survives the process, not the machine. Flush, and Dir.Checkpoint for
// all logs, sync. Index entries collect in memory and are written in pieces: after a crash what is missing
// is made again from the batches. After an unclean stop, only what lies past the recovery point, the offset
// up to which all was synced, is verified again.
package seglog
