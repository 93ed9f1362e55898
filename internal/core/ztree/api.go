package ztree

import "github.com/kalda/kalda/internal/format/jute"

// Short names for what everything here is about.
type (
	// Zxid numbers transactions.
	Zxid = jute.Zxid
	// SessionID names a session.
	SessionID = jute.SessionID
)

// Config is what an operator may choose. The zero value is usable; Apache's defaults have Digest true.
type Config struct {
	ExtendedTypes     bool    // TTL nodes (zookeeper.extendedTypesEnabled)
	Emulate353TTL     bool    // their older encoding (zookeeper.emulate353TTLNodes)
	SkipACL           bool    // everybody may everything (skipACL)
	EnforceQuota      bool    // hard limits refuse (enforceQuota)
	Digest            bool    // transactions carry the tree's digest (zookeeper.digest.enabled)
	OmitClosePaths    bool    // closeSession without its paths (zookeeper.closeSessionTxn.enabled=false)
	NeverUsedInterval int64   // containers that never had a child go after that many ms; 0: never
	ReconfigEnabled   bool    // the ensemble may be changed by clients (reconfigEnabled)
	Schemes           Schemes // of ACLs, beside world and auth; nil: Builtin{}
}

// Schemes knows the schemes of ACLs.
type Schemes interface {
	// Valid says whether id is well-formed in an ACL. False also for an unknown scheme.
	Valid(id jute.ID) bool
	// Matches says whether who, an identity of a connection, is whom the ACL's entry names. Their schemes are
	// equal.
	Matches(who, entry jute.ID) bool
	// Expands says whether identities of that scheme stand in for "auth".
	Expands(scheme string) bool
}

// Request is a write, decoded (or closeSession, createSession, deleteContainer, which servers make).
type Request struct {
	Session SessionID
	Cxid    int32
	Op      jute.OpCode
	Body    jute.Record
	Auth    []jute.ID // the connection's identities, its address as ("ip", text) among them
	Owner   Owner     // who brought it; 0: a server itself, which needs no session
}

// Owner is who serves a session now: a number the driver chooses (this server, or the handler of a learner).
type Owner int64

// Result is what applying a transaction did.
type Result struct {
	Header  jute.TxnHeader
	Code    jute.Code
	Path    string    // of the node created
	Stat    jute.Stat // after creates (but plain create), setData, setACL
	Data    []byte    // the new configuration, after reconfig
	Multi   []jute.OpResult
	Changes []Change
}

// Change is what watches care for.
type Change struct {
	Type      jute.EventType // NodeCreated, NodeDeleted, NodeDataChanged
	Path      string
	ACL       []jute.ACL // of the node (of a deleted one: that it had)
	ParentACL []jute.ACL // created and deleted: the parent's
}

// WatcherID is a connection, as the driver numbers it.
type WatcherID int64

// Notice is one event and the connections that are to get it, if they may read what has that ACL.
type Notice struct {
	Zxid     Zxid
	Event    jute.WatcherEvent
	ACL      []jute.ACL
	Watchers []WatcherID // valid until the next call of Trigger
}
