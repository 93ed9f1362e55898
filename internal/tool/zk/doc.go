// Package zk is the client's side of a ZooKeeper session, for the tools.
//
// A Session connects to one server of a list, keeps the session alive, goes to the next server when it
// loses one, gives back its identities and watches there (setWatches2), and ends when the server says
// that it has expired, when an identity is refused, or when it is closed. Requests are answered in the
// order in which they were made. What was not answered when a connection broke fails with ConnectionLoss:
// whether it happened, nobody can say.
//
// It hides framing, xids, pings, the table of watches and the chroot. A library would hide them too, but
// neither tells which watches it holds, nor knows getEphemerals and whoAmI, which are about the session
// that asks (decision 8).
package zk
