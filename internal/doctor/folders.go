package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
)

// locks finds folders that a process holds.
func (x *examination) locks() {
	for _, dir := range x.directories() {
		file := filepath.Join(dir, ".lock")
		pid, held, err := x.host.Holder(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errors.ErrUnsupported):
		case err != nil:
			x.add(Error, "data", file, "the lock file can't be opened: "+err.Error(),
				"Make the folder and all that is in it the property of the user that the node runs as.")
		case held:
			x.held(file, dir, pid)
		}
	}
}

func (x *examination) held(file, dir string, pid int) {
	x.busy[dir] = pid
	cmd := ""
	if pid > 0 {
		cmd = x.host.Process(pid)
	}
	switch {
	case pid <= 0:
		x.add(Warning, "data", file, "it is locked by a process that can't be seen from here: on another "+
			"machine, or "+
			"outside this container", "If no node uses this data, the lock is stale: end its holder, or remount "+
			"the folder.")
	case cmd == "":
		x.add(Warning, "data", file, fmt.Sprintf("it is locked by process %d, which isn't there any more as "+
			"far as "+
			"can be seen", pid), "If no node uses this data, the lock is stale: remount the folder.")
	case strings.Contains(cmd, "kalda") || strings.Contains(cmd, "kafka"):
		x.add(Info, "data", file, fmt.Sprintf("a node is running on it: process %d", pid),
			"Nothing: what it is writing now isn't judged.")
	default:
		x.add(Warning, "data", file, fmt.Sprintf("it is locked by process %d, which doesn't look like a node: "+
			"%.80s",
			pid, cmd), "No node can start on it before that process ends.")
	}
}

// folders examines what is on disk.
func (x *examination) folders() {
	var formatted, bare []string
	ids := map[string]string{}
	for _, dir := range x.directories() {
		if !x.usable(dir) {
			continue
		}
		p, err := seglog.LoadProperties(x.host.FS, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			bare = append(bare, dir)
		case err != nil:
			x.add(Error, "data", filepath.Join(dir, "meta.properties"), "it can't be read: "+err.Error(),
				"Restore it: version=1, and cluster.id and node.id as in the other folders or nodes.")
		default:
			formatted = append(formatted, dir)
			x.identity(filepath.Join(dir, "meta.properties"), p, ids)
		}
		x.inspect(dir)
	}
	x.unformatted(bare, len(formatted))
	x.quorumState()
}

// usable checks that a folder is one, and that it can be written to.
func (x *examination) usable(dir string) bool {
	st, err := x.host.FS.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at, err := existing(x.host.FS.Stat, dir)
		if err == nil {
			err = x.host.Writable(at)
		}
		if err != nil {
			x.add(Error, "data", dir, "the folder isn't there and can't be made: "+reason(err).Error(),
				"Make it, and give it to the user that the node runs as.")
			return false
		}
		return true
	case err != nil:
		x.add(Error, "data", dir, "the folder can't be looked at: "+reason(err).Error(), "Correct its rights.")
		return false
	case !st.IsDir():
		x.add(Error, "data", dir, "it is a file, not a folder", "Correct log.dirs, or move the file away.")
		return false
	}
	if err := x.host.Writable(dir); err != nil {
		x.add(Error, "data", dir, "the folder can't be written to: "+reason(err).Error(),
			"Give it and all that is in it to the user that the node runs as.")
	}
	return true
}

func (x *examination) unformatted(bare []string, formatted int) {
	for _, dir := range bare {
		switch {
		case x.o.File == "":
			x.add(Info, "data", dir, "it isn't formatted", "Nothing: the first start does that.")
		case formatted == 0 || dir == x.cfg.MetadataLogDir:
			x.add(Error, "data", dir, "it isn't formatted: there is no meta.properties",
				"kafka-storage format --config "+x.o.File+" --cluster-id $(kafka-storage random-uuid), with "+
					"--standalone for "+
					"a first controller without controller.quorum.voters")
		default:
			x.add(Info, "data", dir, "it isn't formatted, and others are", "Nothing: the next start adds it.")
		}
	}
}

// identity holds a meta.properties against the configuration and the other folders.
func (x *examination) identity(file string, p *seglog.Properties, ids map[string]string) {
	switch {
	case p.Version == 0:
		x.add(Error, "data", file, "it is of ZooKeeper mode (version=0)",
			"Migrate the cluster with Apache Kafka 3.9 first; this node only speaks KRaft.")
		return
	case p.ClusterID == "":
		x.add(Error, "data", file, "it has no cluster.id", "Restore it from another folder or node.")
	case x.cluster == "":
		x.cluster = p.ClusterID
	case p.ClusterID != x.cluster:
		x.add(Error, "data", file, fmt.Sprintf("cluster.id is %s, and %s in another "+
			"folder", p.ClusterID, x.cluster),
			"One of the folders belongs to another cluster: correct log.dirs or the mounts.")
	}
	if p.NodeID != x.cfg.NodeID {
		x.add(Error, "data", file, fmt.Sprintf("node.id is %d, and %d in the "+
			"configuration", p.NodeID, x.cfg.NodeID),
			"Set node.id to the number that the data has, or mount the right data.")
	}
	switch other := ids[p.DirectoryID]; {
	case p.DirectoryID == "":
		x.add(Info, "data", file, "it has no directory.id", "Nothing: the next start adds it.")
	case other != "":
		x.add(Error, "data", file, "directory.id is that of "+other+" too: a folder was copied",
			"Remove the copy from log.dirs; if it is an empty one, format it anew.")
	default:
		ids[p.DirectoryID] = file
	}
}

// inspect looks into the logs of a folder.
func (x *examination) inspect(dir string) {
	if _, err := x.host.FS.Stat(dir); err != nil {
		return
	}
	pid, live := x.busy[dir]
	found, err := seglog.Inspect(x.host.FS, dir, seglog.InspectOptions{Deep: x.o.Deep, Live: live})
	if err != nil {
		x.add(Error, "data", dir, "it can't be read: "+err.Error(), "Look at dmesg for errors of the disk, "+
			"and at rights.")
		return
	}
	x.logs += len(found.Logs)
	how := "stopped cleanly"
	switch {
	case live:
		how = fmt.Sprintf("in use by process %d", pid)
	case !found.Clean && len(found.Logs) > 0:
		how = "not stopped cleanly"
		x.add(Info, "data", dir, "the last stop wasn't clean", "Nothing: the next start verifies the ends of "+
			"the logs.")
	}
	x.checked(fmt.Sprintf("data in %s: %d partitions, %d segments, %s, %s", dir, len(found.Logs), found.Segments,
		size(uint64(found.Bytes)), how))
	x.ahead(found.NewestFile, found.Newest)
	for _, name := range found.Aside {
		x.aside(filepath.Join(dir, name))
	}
	for i := range found.Damage {
		x.damage(&found.Damage[i], found.Clean)
	}
}

// metadataDamage deals with damage in the metadata log, with which no node starts. False: it is elsewhere.
func (x *examination) metadataDamage(d *seglog.Damage) bool {
	log := seglog.TopicPartition{Topic: "__cluster_metadata"}
	dir := filepath.Dir(filepath.Dir(d.File))
	if filepath.Base(filepath.Dir(d.File)) != log.String() {
		return false
	}
	if _, live := x.busy[dir]; !x.o.Repair || live {
		x.add(Error, "data", d.File, fmt.Sprintf("the metadata log is damaged at byte %d, and good batches "+
			"follow: the node doesn't start: %v", d.At, d.Err),
			"Check the disk (dmesg, smartctl). With other controllers: delete "+log.String()+" while the node is "+
				"down, and it is fetched again. Without: restore the file; or kalda doctor --repair cuts it there, "+
				"which takes back every change of metadata behind it: the logs of topics made since are put aside "+
				"(-stray), not deleted.")
		return true
	}
	cut, ok, err := x.cutOff(dir, log)
	switch {
	case err != nil:
		x.add(Error, "data", d.File, "it can't be repaired: "+err.Error(), "Restore it.")
	case ok:
		x.add(Warning, "data", cut.File, fmt.Sprintf("cut at byte %d; the metadata ends at offset %d now", cut.At,
			cut.End-1), "Start the node, and look for topics that are missing. What was cut off is in "+
			strings.Join(cut.Kept, ", ")+".")
	}
	return true
}

func (x *examination) cutOff(dir string, log seglog.TopicPartition) (c seglog.Cut, ok bool, err error) {
	lock, err := x.host.FS.Lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return c, false, err
	}
	c, ok, err = seglog.CutOff(x.host.FS, dir, log)
	return c, ok, errors.Join(err, lock.Close())
}

func (x *examination) aside(path string) {
	if strings.HasSuffix(path, "-stray") {
		x.add(Warning, "data", path, "it is the log of a partition that isn't this node's any more, put aside",
			"If nobody misses its records, delete it: nothing else will.")
		return
	}
	x.add(Info, "data", path, "it is a log on its way from another folder", "Nothing: the move goes on or "+
		"is undone.")
}

func (x *examination) damage(d *seglog.Damage, clean bool) {
	why := d.Err.Error()
	switch d.Kind {
	case seglog.DamageTail:
		s := Warning
		if clean {
			s = Error // nothing was to be cut
		}
		x.add(s, "data", d.File, fmt.Sprintf("from byte %d on, %d bytes are no whole batches: "+
			"%s", d.At, d.Bytes, why),
			"The next start cuts them off; a cluster's other replicas have what was acknowledged by all. Copy "+
				"the file "+
				"first if this is the only one.")
	case seglog.DamageBody, seglog.DamageInside:
		if x.metadataDamage(d) {
			return
		}
		x.add(Error, "data", d.File, fmt.Sprintf("records that were on disk are damaged, from byte %d on: "+
			"%s", d.At, why),
			"Check the disk (dmesg, smartctl). With other replicas: delete this partition's folder while the node "+
				"is down, and it is copied again. Without: restore the file, or let the node start: what is before "+
				"and behind the damage is served, and reads in it get CORRUPT_MESSAGE. Only what a power cut left "+
				"in what wasn't synced yet is cut off.")
	case seglog.DamageEnd:
		x.add(Error, "data", d.File, why, "Somebody changed the file since the stop, or it was restored in "+
			"part: restore "+
			"it, or delete .kafka_cleanshutdown to have everything verified.")
	case seglog.DamageCheckpoint:
		x.add(Warning, "data", d.File, "it can't be understood: "+why,
			"Nothing: the next start makes it again, and takes longer.")
	case seglog.DamageTopicID:
		x.add(Error, "data", d.File, "it can't be understood: "+why,
			"Write the topic's id (kafka-topics --describe) into it: two lines, version: 0 and topic_id: <id>.")
	case seglog.DamageIndex:
		x.add(Warning, "data", d.File, "it can't be an index: "+why,
			"Delete it while the node is down: it is made again.")
	case seglog.DamageSnapshot:
		x.add(Error, "data", d.File, "the snapshot is damaged: "+why, "With other controllers: delete "+
			"__cluster_metadata-0 while the node is down, and it is fetched again. Without: restore it.")
	}
}

// quorumState checks the file that holds this node's vote.
func (x *examination) quorumState() {
	file := filepath.Join(x.cfg.MetadataLogDir, "__cluster_metadata-0", "quorum-state")
	b, err := vfs.ReadFile(x.host.FS, file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var s struct {
		Epoch   *int32 `json:"leaderEpoch"`
		Version *int16 `json:"data_version"`
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && (s.Epoch == nil || s.Version == nil) {
		err = errors.New("a field is missing")
	}
	if err != nil {
		x.add(Error, "data", file, "it can't be understood: "+err.Error(),
			"Restore it. If that can't be: a voter without it may vote twice in one epoch, so remove the node "+
				"from the "+
				"quorum, format it, and add it again.")
	}
}
