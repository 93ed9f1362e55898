// Package compact decides what log compaction does: which part of which log is worth cleaning, how
// segments are grouped, and of each batch what is kept (broker.md 3.10, KIP-58, KIP-280's predecessor
// rules, KIP-534).
//
// A cleaning has two passes. The first (Mapper) goes over the dirty part of a log, what was appended since
// the last cleaning, and notes for each key its newest offset in a Keys table of bounded memory: if that
// is full, the cleaning covers so much less. The second (Filter) goes over everything from the start of
// the log to where the first one came, and keeps of each key what is not older than the table says. Both
// follow transactions (Txns): aborted records are no versions of their keys, and markers stay while
// anything of their transaction does.
//
// # What it never does
//
// It doesn't read or write: the owner hands in batches of any magic and writes what comes out. It never
// loses the newest version of a key, never makes a tombstone or a marker go before its delete horizon,
// never drops the batch with the last sequence of a live producer, nor the last batch of a round, whose
// offset says where the log ends. What it can't read it keeps.
package compact
