package broker

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/vfs"
)

// offline says that the partition's directory failed.
func (p *Partition) offline() bool { return p.log == nil || p.dir.failed.Load() }

// compareDirs holds the directories against those that this node registered with last: metadata places
// partitions by directory.id, and one with another id isn't found where it says.
func (b *Broker) compareDirs() {
	me := b.Image().Broker(b.cfg.NodeID)
	if me == nil || len(me.LogDirs) == 0 {
		return
	}
	for _, d := range b.logs.dirs {
		if !d.failed.Load() && !slices.Contains(me.LogDirs, d.id) && len(d.Logs()) > 0 {
			b.log.Warn("a log directory that isn't new has a directory.id that this node never registered: was "+
				"its meta.properties changed, or the folder copied from elsewhere?", "file",
				filepath.Join(d.path, "meta.properties"), "directory.id", d.id.String())
		}
	}
}

// checkpointFailed takes a directory offline that can't be written to any more, as long as there is another:
// the only one goes on with what it can, and its logs refuse what they can't.
func (b *Broker) checkpointFailed(d *logDir, err error) {
	b.log.Error("checkpoint failed", "path", d.path, "error", err)
	if !vfs.Passing(err) {
		b.takeOffline(d, err)
	}
}

// ioFailed takes a directory offline in which an append or a read met a fault of the disk: the next one
// would, too. A log that was closed or that holds damage is none.
func (b *Broker) ioFailed(d *logDir, err error) {
	if errors.As(err, new(syscall.Errno)) && !vfs.Passing(err) && !errors.Is(err, fs.ErrNotExist) {
		b.takeOffline(d, err)
	}
}

func (b *Broker) takeOffline(d *logDir, err error) {
	for _, other := range b.logs.dirs {
		if other == d || other.failed.Load() {
			continue
		}
		if !d.failed.Swap(true) {
			b.noteFailed(d.path, err)
			go b.wakeIn(d) // it takes the partitions' locks, and the caller may hold one
		}
		return
	}
}

// wakeIn lets whoever waits for something in a directory see that it is offline.
func (b *Broker) wakeIn(d *logDir) {
	b.each(func(p *Partition) {
		if p.dir == d {
			p.mu.Lock()
			p.waits.wakeAll()
			p.mu.Unlock()
		}
	})
}

// OnlineDirs are the ids of the log directories in use.
func (b *Broker) OnlineDirs() []meta.UUID { return b.dirIDs(false) }

// OfflineDirs are the ids of those that failed since the start or at it.
func (b *Broker) OfflineDirs() []meta.UUID { return b.dirIDs(true) }

func (b *Broker) dirIDs(failed bool) (ids []meta.UUID) {
	for _, d := range b.logs.dirs {
		if d.failed.Load() == failed && d.id != (meta.UUID{}) {
			ids = append(ids, d.id)
		}
	}
	return ids
}

const (
	assignFirst = 500 * time.Millisecond // soon after the registration
	assignEvery = 10 * time.Second       // how often the controller is told again what it doesn't know yet
	maxAssigned = 2000                   // partitions of one request
)

// assignDirs tells the controller in which directories partitions lie, where it can't know: with one
// directory it does.
func (b *Broker) assignDirs() {
	me := b.Image().Broker(b.cfg.NodeID)
	if len(b.logs.dirs) < 2 || b.cfg.Forward == nil || me == nil {
		return
	}
	req := kmsg.NewPtrAssignReplicasToDirsRequest()
	req.BrokerID, req.BrokerEpoch = int32(b.cfg.NodeID), me.Epoch
	n := 0
	b.each(func(p *Partition) {
		if n < maxAssigned && !p.offline() && p.dir.id != (meta.UUID{}) && p.assignedDir(b.cfg.NodeID) != p.dir.id {
			n++
			addAssignment(req, p)
		}
	})
	if n == 0 {
		return
	}
	b.cfg.Forward.Forward(req, Origin{Principal: "User:ANONYMOUS"}, func(resp kmsg.Response) {
		if r, ok := resp.(*kmsg.AssignReplicasToDirsResponse); ok && r.ErrorCode != 0 {
			b.log.Warn("the controller didn't take the partitions' directories", "code", r.ErrorCode)
		}
	})
}

// assignedDir is where metadata says that the replica of this node lies.
func (p *Partition) assignedDir(self meta.NodeID) meta.UUID {
	r := p.role.Load()
	for i, id := range r.Replicas {
		if id == self && i < len(r.Dirs) {
			return r.Dirs[i]
		}
	}
	return p.dir.id // it isn't kept there
}

func addAssignment(req *kmsg.AssignReplicasToDirsRequest, p *Partition) {
	at := -1
	for i := range req.Directories {
		if req.Directories[i].ID == p.dir.id {
			at = i
		}
	}
	if at < 0 {
		d := kmsg.NewAssignReplicasToDirsRequestDirectory()
		d.ID = p.dir.id
		req.Directories = append(req.Directories, d)
		at = len(req.Directories) - 1
	}
	d := &req.Directories[at]
	part := kmsg.NewAssignReplicasToDirsRequestDirectoryTopicPartition()
	part.Partition = p.n
	if n := len(d.Topics); n == 0 || d.Topics[n-1].TopicID != p.id {
		t := kmsg.NewAssignReplicasToDirsRequestDirectoryTopic()
		t.TopicID = p.id
		d.Topics = append(d.Topics, t)
	}
	t := &d.Topics[len(d.Topics)-1]
	t.Partitions = append(t.Partitions, part)
}
