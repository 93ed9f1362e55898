// Package ensemble drives core/ztree: it is a ZooKeeper server.
//
// A write goes through five stages, and a server that is alone has them all in itself:
//
//	prep    the head (one goroutine: Planner, Tree, Sessions) makes a transaction of the request
//	log     the journal writes and syncs a batch of them, while the head prepares the next one
//	commit  the journal says so; alone, a synced batch is a committed one
//	apply   the head changes the Tree, collects who is to be notified, and publishes the View
//	reply   notices and replies are released to the connections, each with one write
//
// Reads never get there: a connection's goroutine answers them from the newest View, unless requests of the
// same session that came before are still unanswered. Then the read joins their queue, and the head answers
// it at its place, from the tree as the write before it left it.
//
// # Order
//
// What a client sees follows three rules (reference, section 1.8). A notification comes before any reply that
// shows the change, and not before the View has it; a reply that sets a watch comes before the watch's
// notification; a session's replies come in the order of its requests. So what the head has to say to a
// connection is staged (conn.next) before the View is published, and released after it; a connection that
// answers a read from a View with staged changes releases them first (conn.merge); and a reply that sets a
// watch is put into the outgoing bytes under the lock of the watches.
//
// # Locks
//
// Server.watchMu, then table.mu or conn.mu, never both of these. None is held across I/O that may block.
package ensemble
