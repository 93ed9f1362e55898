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
// A group of the consumer protocol (KIP-848) has no states that it moves through together: it has an epoch,
// a target assignment made in an epoch, and members that go to it one by one, each in an epoch of its own:
//
//	member       event                                          to
//	Stable       the target has a newer epoch                   Unrevoked if it has what it shan't have,
//	                                                            Unreleased if others have what it shall have,
//	                                                            else Stable in that epoch
//	Unrevoked    it says that it has given up                   as from Stable
//	Unreleased   others have given up                           as from Stable
//	any          its session, or its time to give up, ends      out of the group, whose epoch grows
//
// What the group shows is Empty without members, Assigning while the target's epoch is older than its own,
// Reconciling while a member isn't Stable in the target's epoch, else Stable.
//
// Invariants of the consumer protocol:
//   - A partition that one member has, or was told to give up and has not yet, no other member has.
//   - Epochs of a group only grow; no member is ahead of the target's.
//   - Members of the classic protocol live by the same rules; to them an epoch of theirs is a generation.
//
// The core never reads a clock, never deletes records of kinds it doesn't understand: groups of the newest
// protocols that another node left in the log are kept (see foreign). Topics it knows from the images that
// come with requests.
package group
