// Package wire is sockets: listeners, framing, limits and the order of replies.
package wire
