// Package coordinator is the one runtime for everything that coordinates over an internal topic: groups now,
// transactions and share groups later.
//
// A Runtime has a shard for each partition of the topic that this node leads. A shard owns a core (a pure
// state machine) and the partition's log, and runs one loop: take all queued requests, step the core with
// each, append what it drained as one batch, wait for the high watermark, reply. State is rebuilt from the
// log when leadership comes, and dropped when it goes.
//
// A shard's goroutine exists only while there is something to do: the first request (or timer) of a quiet
// shard starts it, and it ends when the queue is empty. Fifty quiet partitions cost fifty small structs and,
// where groups have sessions, one runtime timer each; a shard whose log is empty has not even a core. The
// rejected designs: a goroutine and channel for each shard (400 KiB of stacks on every idle node), and one
// goroutine for all of them (one slow disk would stop every group).
package coordinator
