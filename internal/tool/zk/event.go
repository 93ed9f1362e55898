package zk

import (
	"strconv"

	"github.com/kalda/kalda/internal/format/jute"
)

// State is what a session's connection is like.
type State int32

// The states, under the numbers that events have for them where they have one.
const (
	Disconnected      State = 0
	SyncConnected     State = 3
	AuthFailed        State = 4
	ConnectedReadOnly State = 5
	Closed            State = 7
	Expired           State = -112
)

// String is the name that events print.
func (s State) String() string {
	switch s {
	case Disconnected:
		return "Disconnected"
	case SyncConnected:
		return "SyncConnected"
	case AuthFailed:
		return "AuthFailed"
	case ConnectedReadOnly:
		return "ConnectedReadOnly"
	case Closed:
		return "Closed"
	case Expired:
		return "Expired"
	}
	return strconv.Itoa(int(s))
}

// Prompt is the name that Apache's shell shows.
func (s State) Prompt() string {
	switch s {
	case SyncConnected:
		return "CONNECTED"
	case ConnectedReadOnly:
		return "CONNECTEDREADONLY"
	case AuthFailed:
		return "AUTH_FAILED"
	case Closed, Expired:
		return "CLOSED"
	default:
		return "CONNECTING"
	}
}

// Alive says whether the session can still get answers.
func (s State) Alive() bool { return s == Disconnected || s == SyncConnected || s == ConnectedReadOnly }

// Events that a client makes itself, when it drops watches.
const (
	DataWatchRemoved       jute.EventType = 5
	ChildWatchRemoved      jute.EventType = 6
	PersistentWatchRemoved jute.EventType = 7
)

// Event is a change of the connection, or of a watched node.
type Event struct {
	Type  jute.EventType
	State State
	Path  string // as the caller knows it; empty for the connection's own
	Zxid  jute.Zxid
}

// String is the event as Apache's clients print it.
func (e Event) String() string {
	path := e.Path
	if path == "" {
		path = "null"
	}
	return "WatchedEvent state:" + e.State.String() + " type:" + eventType(e.Type) + " path:" + path +
		" zxid: " + strconv.FormatInt(int64(e.Zxid), 10)
}

func eventType(t jute.EventType) string {
	switch t {
	case DataWatchRemoved:
		return "DataWatchRemoved"
	case ChildWatchRemoved:
		return "ChildWatchRemoved"
	case PersistentWatchRemoved:
		return "PersistentWatchRemoved"
	default:
		return t.String()
	}
}
