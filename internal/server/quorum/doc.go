// Package quorum drives core/kraft: it owns the metadata log on disk, its snapshots, the quorum-state file,
// the connections to the other voters, and the one goroutine that everything of these runs on. Above it sits
// a Machine, the replicated state.
//
// The promise to the Machine: its methods are called from that one goroutine, in log order, and only with
// committed batches. Snapshot's iterator alone runs elsewhere, and must therefore walk something immutable.
package quorum
