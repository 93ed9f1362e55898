// Package kraft decides for one replica of a KRaft quorum: elections with pre-votes, epochs, log
// reconciliation, the high watermark, snapshot transfer, voter sets. KIP-595, KIP-630, KIP-996, KIP-853's
// reading side.
//
// It is a pure state machine. Time comes in with every Step, chance is seeded, and what must happen outside
// leaves through Drain, in this order: make the election durable, do the disk operations in order, send
// replies and requests. The driver reports a finished sync with the Synced input; until then the core neither
// fetches on (a follower's fetch acknowledges what it holds) nor counts the leader's own log towards the high
// watermark. So a leader's disk works while its followers fetch, and yet nothing is committed that a majority
// hasn't on disk. (Apache's leader counts itself before its sync.)
//
// States are Unattached, Prospective, Candidate, Leader, Follower and Resigned; see states.go for the moves.
// "Voted" is an Unattached with a vote, an observer is any replica that the newest voter set doesn't name:
// Unattached or Follower only.
//
// Invariants: an epoch never falls; a vote given or a leader known in an epoch is kept within it; the high
// watermark never falls; nothing below it is truncated; two leaders in one epoch stop the node
// (Effects.Fatal).
//
// The core never sees record contents, except control records; never reads a clock, a file or a socket.
package kraft
