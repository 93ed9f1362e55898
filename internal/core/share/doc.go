// Package share decides for share groups (KIP-932): which records of a partition are with which member, how
// often they were, and what of that is remembered.
//
// A Partition is one partition as one share group sees it, at the partition's leader. Its records from the
// share-partition start offset to the end are in flight; before are those that are done with, after
// those that nobody had yet:
//
//	from          event                                                        to
//	(past the end) a member fetches                                            Acquired
//	Available     a member fetches                                             Acquired, one delivery more
//	Acquired      accepted                                                     Acknowledged
//	Acquired      rejected; isn't there (a gap)                                Archived
//	Acquired      released, lock's time is over, session ends                  Available; Archived after the
//	                                                                           last delivery that is allowed
//	Acquired      renewed                                                      Acquired, with a new lock
//	any           the log starts after it                                      done with
//
// A change that must be remembered is planned first: the records stay Acquired, and nobody can change them
// again, until the driver says that the share coordinator has them (Commit), or couldn't (Fail). Then the
// start offset moves over what is Acknowledged or Archived.
//
// Invariants:
//   - A record is with one member at most.
//   - A record is delivered at most as often as is allowed, but for deliveries that a moved leader forgot.
//   - In flight are never more records than configured: memory is bounded by that.
//   - A member that is gone keeps nothing: its session's end or its locks' give all back.
//
// States is the share coordinator, which remembers: one for each partition of __share_group_state, in
// snapshots and updates as Apache's.
//
// The package never reads a clock, a log or a configuration: times, offsets and limits are arguments.
package share
