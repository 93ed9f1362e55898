package ztree

import (
	"iter"

	"github.com/kalda/kalda/internal/format/jute"
)

// Tree is the state that transactions change. One goroutine owns it.
type Tree struct{}

// View is an immutable state of the tree. Any number of goroutines may read it.
type View struct{}

// Node is one znode of a view. The zero Node is none.
type Node struct{}

// Loader builds a tree from a snapshot: sessions, ACLs, nodes (parents first, the root as ""), Finish.
type Loader struct{}

// Planner makes transactions of requests. It belongs to the tree's goroutine.
type Planner struct{}

// Sessions is the leader's table of live sessions.
type Sessions struct{}

// Watches is who waits for what on this server. The driver's lock guards it.
type Watches struct{}

// New is a fresh tree, with /zookeeper and its two children.
func New(cfg Config) *Tree { return nil }

// View is the state now, in O(1).
func (t *Tree) View() *View { return nil }

// Apply does a transaction. Zxids ascend.
func (t *Tree) Apply(txn *jute.Txn) *Result { return nil }

// SetConfig writes /zookeeper/config locally, without a transaction.
func (t *Tree) SetConfig(data []byte, version Zxid) {}

// DropSession deletes a session and its ephemerals without a transaction: those a snapshot left without a session.
func (t *Tree) DropSession(id SessionID, zxid Zxid) *Result { return nil }

// DeadSessions own ephemerals, and are not in the table of sessions.
func (v *View) DeadSessions() []SessionID { return nil }

// NewLoader starts an empty tree.
func NewLoader(cfg Config) *Loader { return nil }

// Session adds a session.
func (l *Loader) Session(id SessionID, timeout int32) {}

// ACL adds an entry of the snapshot's table.
func (l *Loader) ACL(key int64, acl []jute.ACL) {}

// Node adds a node. The data is copied. An error: no parent, or twice.
func (l *Loader) Node(path string, n *jute.DataNode) error { return nil }

// Finish gives the tree, as it is at zxid.
func (l *Loader) Finish(zxid Zxid) (*Tree, error) { return nil, nil }

// Zxid is the last transaction in the view.
func (v *View) Zxid() Zxid { return 0 }

// Digest is the tree's digest.
func (v *View) Digest() uint64 { return 0 }

// NodeCount is as Apache counts: the root twice.
func (v *View) NodeCount() int { return 0 }

// EphemeralCount is the number of ephemerals.
func (v *View) EphemeralCount() int { return 0 }

// DataSize is about the bytes of paths and data.
func (v *View) DataSize() int64 { return 0 }

// Sessions are all sessions and their timeouts, by id.
func (v *View) Sessions() iter.Seq2[SessionID, int32] { return nil }

// SessionTimeout is one session's.
func (v *View) SessionTimeout(id SessionID) (int32, bool) { return 0, false }

// ACLs is the table of ACLs that nodes refer to by key.
func (v *View) ACLs() iter.Seq2[int64, []jute.ACL] { return nil }

// Nodes are all nodes, parents first; the root's path is "". Data must not be changed.
func (v *View) Nodes() iter.Seq2[string, jute.DataNode] { return nil }

// Lookup finds a node without a check.
func (v *View) Lookup(path string) (Node, bool) { return Node{}, false }

// Read finds a node that ids may read: getData, getChildren, getChildren2, exists.
func (v *View) Read(path string, ids []jute.ID) (Node, jute.Code) { return Node{}, 0 }

// ReadACL is getACL: passwords masked unless ids may administer.
func (v *View) ReadACL(path string, ids []jute.ID) ([]jute.ACL, jute.Stat, jute.Code) {
	return nil, jute.Stat{}, 0
}

// Descendants is getAllChildrenNumber.
func (v *View) Descendants(path string, ids []jute.ID) (int32, jute.Code) { return 0, 0 }

// Ephemerals are a session's, whose path begins with prefix.
func (v *View) Ephemerals(id SessionID, prefix string) []string { return nil }

// EphemeralOwners are the sessions that own ephemerals, and their paths (dump).
func (v *View) EphemeralOwners() iter.Seq2[SessionID, []string] { return nil }

// Idle are containers and TTL nodes to delete at now: at most limit, going on after the path where the last call ended.
func (v *View) Idle(now int64, limit int, after string) []string { return nil }

// Permits says whether ids have any of perms on what has that ACL.
func (v *View) Permits(acl []jute.ACL, perms int32, ids []jute.ID) bool { return false }

// Stat is what clients see.
func (n Node) Stat() jute.Stat { return jute.Stat{} }

// Data is nil for null. It must not be changed.
func (n Node) Data() []byte { return nil }

// ACL must not be changed.
func (n Node) ACL() []jute.ACL { return nil }

// NumChildren counts children.
func (n Node) NumChildren() int { return 0 }

// Children are the names, sorted.
func (n Node) Children() iter.Seq[string] { return nil }

// AppendData adds the data as a buffer.
func (n Node) AppendData(dst []byte) []byte { return dst }

// AppendStat adds the stat.
func (n Node) AppendStat(dst []byte) []byte { return dst }

// AppendChildren adds the names as a vector.
func (n Node) AppendChildren(dst []byte) []byte { return dst }

// NewPlanner plans for t; s may be changed by the driver too.
func NewPlanner(t *Tree, s *Sessions) *Planner { return nil }

// Prep makes the transaction of a request, an error's too: it uses the zxid in any case.
func (p *Planner) Prep(r *Request, zxid Zxid, now int64) *jute.Txn { return nil }

// Applied forgets what was planned up to zxid, after Apply.
func (p *Planner) Applied(zxid Zxid) {}

// Response adds a successful reply's body (after the header with Code; nothing when that is not OK).
func (r *Result) Response(dst []byte) []byte { return dst }

// NewSessions starts a table whose ids begin with the server's; tick is the length of an expiry bucket in ms.
func NewSessions(server uint8, now, tick int64) *Sessions { return nil }

// NextID allots an id.
func (s *Sessions) NextID() SessionID { return 0 }

// Add makes a session known and alive: a new one, a restored one (owner 0).
func (s *Sessions) Add(id SessionID, timeout int32, owner Owner, now int64) {}

// Touch postpones expiry; false when the session is gone or closing.
func (s *Sessions) Touch(id SessionID, now int64) bool { return false }

// Own makes owner the one that serves the session (a reconnect); false when it is gone or closing.
func (s *Sessions) Own(id SessionID, owner Owner, now int64) bool { return false }

// Check is the session check of every request: OK, SessionExpired or SessionMoved.
func (s *Sessions) Check(id SessionID, owner Owner) jute.Code { return 0 }

// Close marks a session as closing.
func (s *Sessions) Close(id SessionID) {}

// Remove forgets a session (its closeSession was applied).
func (s *Sessions) Remove(id SessionID) {}

// Due are the sessions whose time is up; each is to be closed (Close, then a closeSession request) or touched with the
// time it was really heard from. The driver need not touch on every request, only here.
func (s *Sessions) Due(now int64) []SessionID { return nil }

// Deadline is when Due has something to look at.
func (s *Sessions) Deadline() (int64, bool) { return 0, false }

// Password is what a session's holder proves it by.
func Password(id SessionID) [16]byte { return [16]byte{} }

// CheckPath is Apache's rule for legal paths.
func CheckPath(path string) bool { return false }

// NewWatches is an empty table.
func NewWatches() *Watches { return nil }

// Kind is how a watch was set.
type Kind uint8

// The kinds of watches.
const (
	WatchData       Kind = iota // getData, exists
	WatchChild                  // getChildren, getChildren2
	WatchPersistent             // addWatch mode 0
	WatchRecursive              // addWatch mode 1
)

// Add sets a watch.
func (w *Watches) Add(id WatcherID, path string, kind Kind) {}

// Has says whether a watcher has a watch of the type at the path (checkWatches).
func (w *Watches) Has(id WatcherID, path string, t jute.WatcherType) bool { return false }

// Remove takes watches of the type at the path away; false when there was none (removeWatches).
func (w *Watches) Remove(id WatcherID, path string, t jute.WatcherType) bool { return false }

// Drop takes all watches of a connection away.
func (w *Watches) Drop(id WatcherID) {}

// Trigger gives the notices of one change, in order, and uses up one-shot watches. The slice is valid until the next call.
func (w *Watches) Trigger(zxid Zxid, c *Change) []Notice { return nil }

// Restore is setWatches: registers, and gives the events of what happened meanwhile, in order.
func (w *Watches) Restore(id WatcherID, v *View, r *jute.SetWatches, ids []jute.ID) []jute.WatcherEvent {
	return nil
}

// Count is the number of watches; Watchers that of connections that have any, Paths that of paths.
func (w *Watches) Count() int { return 0 }

// Watchers is the number of connections that have watches.
func (w *Watches) Watchers() int { return 0 }

// Paths is the number of paths that have watches.
func (w *Watches) Paths() int { return 0 }

// CountOf is the number of one connection's watches.
func (w *Watches) CountOf(id WatcherID) int { return 0 }

// ByPath are the watched paths and who watches them (wchp).
func (w *Watches) ByPath() iter.Seq2[string, []WatcherID] { return nil }

// ByWatcher are the watchers and what they watch (wchc).
func (w *Watches) ByWatcher() iter.Seq2[WatcherID, []string] { return nil }
