// Package ztree is ZooKeeper's state: znodes with their stats, ACLs and quotas, sessions, watches; and the
// decisions that turn a request into a transaction. Pure: no clock, no lock, no goroutine.
//
// Role, in four parts that a driver puts together:
//
//   - Tree applies transactions, in zxid order. Every server has one, and all get the same.
//   - View is an immutable state of it, in O(1). Reads need nothing else, so they need no lock: the driver
//     keeps the newest in an atomic pointer.
//   - Planner (leader and standalone) checks a request against the tree overlaid with what is planned and not
//     applied yet, and makes the transaction: sequence numbers, versions, expanded ACLs, the time and the
//     digest are decided there, so that applying never fails.
//   - Sessions (leader and standalone) knows who is alive, and who owns a session; Watches, on every server,
//     who waits for what.
//
// # Publishing
//
// A reply that shows a change must come after the change's notifications, and no change may slip between a
// read and its watch. Two rules give both, with one lock of the driver's:
//
//	apply: t.Apply(each txn); lock { w.Trigger(each change), notices into queues; view.Store(t.View()) }
//	watching read: lock { v := view.Load(); read v; w.Add(...) }
//	plain read: view.Load(), no lock
//
// # Never
//
// An applied transaction never fails: what replay over a fuzzy snapshot may meet (a node that is there
// already, or gone already) is settled as the reference says (section 3.7). A broken invariant panics, bad
// input never does.
package ztree
