// Package group decides for consumer groups: who is a member, which generation they are in, what offsets they
// committed.
//
// One Core holds the groups of one partition of __consumer_offsets. It is fed requests, records read back
// from that partition, and the time; out of it come records to append and replies.
//
// States of a classic group (reference broker.md 6.3):
//
//	from                        event                                   to
//	Empty                       first member joins                      PreparingRebalance (initial delay)
//	Stable, CompletingRebalance a member joins, leaves, changes, dies   PreparingRebalance
//	PreparingRebalance          all have joined, or the join timer      CompletingRebalance (none left: Empty)
//	CompletingRebalance         the leader's assignment                 Stable
//	any                         no members and no offsets, or deleted   Dead: the group is no more
//
// Invariants:
//   - A member is awaiting at most one reply. A reference that came with a request is answered exactly once.
//   - Generations only grow.
//   - An instance id names one member.
//   - Nothing depends on the order of a Go map.
//
// State changes before the records that tell of it are committed. The driver holds back every reply until all
// records drained before it, and with it, are committed; if they can't be appended it calls Rollback, and
// answers the held requests itself.
//
// The core never reads a clock, never looks at topics' existence, never deletes records of kinds it doesn't
// understand: groups of the newer protocols that another node left in the log are kept (see foreign).
package group
