// Package wire is Kafka's sockets: listeners, framing, request headers, connection limits, a bound on request
// memory, and replies that leave in one write or straight from a file.
//
// A connection is one goroutine. It reads what has arrived in one call, handles every whole request found
// there and answers all of them in one write. A handler that can't answer yet simply returns: the connection
// writes what is due and waits for that one reply, from whichever goroutine it comes, before it looks at the
// next request. So replies keep the order of requests and at most one request of a connection is outstanding,
// as Apache's muting has it (broker.md 1.3).
//
// Waiting connections hold no buffer: one is taken when bytes have arrived and given back when they are
// handled.
package wire
