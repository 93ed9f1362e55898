package jute

import (
	"fmt"
	"strconv"
)

// Zxid is the number of a transaction: the leader's epoch in the upper half, a counter in the lower.
type Zxid int64

// Epoch is the upper half.
func (z Zxid) Epoch() int64 { return int64(uint64(z) >> 32) }

// Counter is the lower half.
func (z Zxid) Counter() int64 { return int64(z & 0xffffffff) }

// String is the hexadecimal form that file names and logs have.
func (z Zxid) String() string { return "0x" + strconv.FormatUint(uint64(z), 16) }

// SessionID names a session for ever. Its top byte is the server that made it.
type SessionID int64

// String is the hexadecimal form that logs and four-letter words have.
func (s SessionID) String() string { return "0x" + strconv.FormatUint(uint64(s), 16) }

// OpCode is the type of a request and of a transaction.
type OpCode int32

// Requests that clients send, and the three types that only transactions have.
const (
	OpNotification         OpCode = 0
	OpCreate               OpCode = 1
	OpDelete               OpCode = 2
	OpExists               OpCode = 3
	OpGetData              OpCode = 4
	OpSetData              OpCode = 5
	OpGetACL               OpCode = 6
	OpSetACL               OpCode = 7
	OpGetChildren          OpCode = 8
	OpSync                 OpCode = 9
	OpPing                 OpCode = 11
	OpGetChildren2         OpCode = 12
	OpCheck                OpCode = 13
	OpMulti                OpCode = 14
	OpCreate2              OpCode = 15
	OpReconfig             OpCode = 16
	OpCheckWatches         OpCode = 17
	OpRemoveWatches        OpCode = 18
	OpCreateContainer      OpCode = 19
	OpDeleteContainer      OpCode = 20
	OpCreateTTL            OpCode = 21
	OpMultiRead            OpCode = 22
	OpAuth                 OpCode = 100
	OpSetWatches           OpCode = 101
	OpSASL                 OpCode = 102
	OpGetEphemerals        OpCode = 103
	OpGetAllChildrenNumber OpCode = 104
	OpSetWatches2          OpCode = 105
	OpAddWatch             OpCode = 106
	OpWhoAmI               OpCode = 107
	OpCreateSession        OpCode = -10
	OpCloseSession         OpCode = -11
	OpError                OpCode = -1
)

// String is the name that Apache's logs and tools print.
func (o OpCode) String() string {
	switch o {
	case OpNotification:
		return "notification"
	case OpCreate:
		return "create"
	case OpDelete:
		return "delete"
	case OpExists:
		return "exists"
	case OpGetData:
		return "getData"
	case OpSetData:
		return "setData"
	case OpGetACL:
		return "getACL"
	case OpSetACL:
		return "setACL"
	case OpGetChildren:
		return "getChildren"
	case OpSync:
		return "sync:"
	case OpPing:
		return "ping"
	case OpGetChildren2:
		return "getChildren2"
	case OpCheck:
		return "check"
	case OpMulti:
		return "multi"
	case OpCreate2:
		return "create2"
	case OpReconfig:
		return "reconfig"
	case OpCheckWatches:
		return "checkWatches"
	case OpRemoveWatches:
		return "removeWatches"
	}
	return o.laterName()
}

func (o OpCode) laterName() string {
	switch o {
	case OpCreateContainer:
		return "createContainer"
	case OpDeleteContainer:
		return "deleteContainer"
	case OpCreateTTL:
		return "createTtl"
	case OpMultiRead:
		return "multiRead"
	case OpAuth:
		return "auth"
	case OpSetWatches:
		return "setWatches"
	case OpSASL:
		return "sasl"
	case OpGetEphemerals:
		return "getEphemerals"
	case OpGetAllChildrenNumber:
		return "getAllChildrenNumber"
	case OpSetWatches2:
		return "setWatches2"
	case OpAddWatch:
		return "addWatch"
	case OpWhoAmI:
		return "whoAmI"
	case OpCreateSession:
		return "createSession"
	case OpCloseSession:
		return "closeSession"
	case OpError:
		return "error"
	}
	return "unknown " + strconv.Itoa(int(o))
}

// Code is the outcome of a request, as the reply's header says it. Zero is success.
type Code int32

// All codes a server sends; those that only clients make are left out.
const (
	OK                           Code = 0
	SystemError                  Code = -1
	RuntimeInconsistency         Code = -2
	DataInconsistency            Code = -3
	MarshallingError             Code = -5
	Unimplemented                Code = -6
	BadArguments                 Code = -8
	UnknownSession               Code = -12
	NewConfigNoQuorum            Code = -13
	ReconfigInProgress           Code = -14
	APIError                     Code = -100
	NoNode                       Code = -101
	NoAuth                       Code = -102
	BadVersion                   Code = -103
	NoChildrenForEphemerals      Code = -108
	NodeExists                   Code = -110
	NotEmpty                     Code = -111
	SessionExpired               Code = -112
	InvalidACL                   Code = -114
	AuthFailed                   Code = -115
	SessionMoved                 Code = -118
	NotReadOnly                  Code = -119
	EphemeralOnLocalSession      Code = -120
	NoWatcher                    Code = -121
	ReconfigDisabled             Code = -123
	SessionClosedRequireSASLAuth Code = -124
	QuotaExceeded                Code = -125
	ThrottledOp                  Code = -127
)

// String is the name in Apache's list of codes.
func (c Code) String() string {
	names := [...]struct {
		c Code
		s string
	}{
		{OK, "OK"},
		{SystemError, "SYSTEMERROR"},
		{RuntimeInconsistency, "RUNTIMEINCONSISTENCY"},
		{DataInconsistency, "DATAINCONSISTENCY"},
		{MarshallingError, "MARSHALLINGERROR"},
		{Unimplemented, "UNIMPLEMENTED"},
		{BadArguments, "BADARGUMENTS"},
		{UnknownSession, "UNKNOWNSESSION"},
		{NewConfigNoQuorum, "NEWCONFIGNOQUORUM"},
		{ReconfigInProgress, "RECONFIGINPROGRESS"},
		{APIError, "APIERROR"},
		{NoNode, "NONODE"},
		{NoAuth, "NOAUTH"},
		{BadVersion, "BADVERSION"},
		{NoChildrenForEphemerals, "NOCHILDRENFOREPHEMERALS"},
		{NodeExists, "NODEEXISTS"},
		{NotEmpty, "NOTEMPTY"},
		{SessionExpired, "SESSIONEXPIRED"},
		{InvalidACL, "INVALIDACL"},
		{AuthFailed, "AUTHFAILED"},
		{SessionMoved, "SESSIONMOVED"},
		{NotReadOnly, "NOTREADONLY"},
		{EphemeralOnLocalSession, "EPHEMERALONLOCALSESSION"},
		{NoWatcher, "NOWATCHER"},
		{ReconfigDisabled, "RECONFIGDISABLED"},
		{SessionClosedRequireSASLAuth, "SESSIONCLOSEDREQUIRESASLAUTH"},
		{QuotaExceeded, "QUOTAEXCEEDED"},
		{ThrottledOp, "THROTTLEDOP"},
	}
	for _, n := range names {
		if n.c == c {
			return n.s
		}
	}
	return fmt.Sprintf("CODE(%d)", int32(c))
}

// Xids that are not a client's running number.
const (
	XidNotification int32 = -1
	XidPing         int32 = -2
	XidAuth         int32 = -4
	XidSetWatches   int32 = -8
)

// Permission bits of an ACL's entry.
const (
	PermRead   int32 = 1
	PermWrite  int32 = 2
	PermCreate int32 = 4
	PermDelete int32 = 8
	PermAdmin  int32 = 16
	PermAll    int32 = 31
)

// The flags of a create request.
const (
	FlagPersistent              int32 = 0
	FlagEphemeral               int32 = 1
	FlagPersistentSequential    int32 = 2
	FlagEphemeralSequential     int32 = 3
	FlagContainer               int32 = 4
	FlagPersistentTTL           int32 = 5
	FlagPersistentSequentialTTL int32 = 6
)

// EventType is what happened to the watched path.
type EventType int32

// The types a server sends.
const (
	EventNone                EventType = -1
	EventNodeCreated         EventType = 1
	EventNodeDeleted         EventType = 2
	EventNodeDataChanged     EventType = 3
	EventNodeChildrenChanged EventType = 4
)

// String is Apache's name.
func (e EventType) String() string {
	switch e {
	case EventNone:
		return "None"
	case EventNodeCreated:
		return "NodeCreated"
	case EventNodeDeleted:
		return "NodeDeleted"
	case EventNodeDataChanged:
		return "NodeDataChanged"
	case EventNodeChildrenChanged:
		return "NodeChildrenChanged"
	}
	return "EventType(" + strconv.Itoa(int(e)) + ")"
}

// StateSyncConnected is the state in every event a server sends.
const StateSyncConnected int32 = 3

// WatcherType says which of a path's watches checkWatches and removeWatches mean.
type WatcherType int32

// The watcher types.
const (
	WatcherChildren            WatcherType = 1
	WatcherData                WatcherType = 2
	WatcherAny                 WatcherType = 3
	WatcherPersistent          WatcherType = 4
	WatcherPersistentRecursive WatcherType = 5
)

// AddWatchMode is the kind of watch that addWatch asks for.
type AddWatchMode int32

// The modes of addWatch.
const (
	AddPersistent          AddWatchMode = 0
	AddPersistentRecursive AddWatchMode = 1
)
