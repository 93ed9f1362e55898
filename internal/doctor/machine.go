package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// filesPerLog is how many files a busy partition keeps open: log, two indexes, and one to spare for a roll.
const filesPerLog = 4

// spareFiles are for connections, when their number isn't bounded.
const spareFiles = 4096

// limits holds the number of open files that a process may have against what the data needs.
func (x *examination) limits() {
	n, err := x.host.Descriptors()
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		x.add(Info, "limits", "RLIMIT_NOFILE", "the limit of open files can't be told: "+err.Error(), "Look "+
			"at ulimit -n.")
		return
	}
	conns := uint64(spareFiles)
	if max := x.cfg.Int("max.connections"); max > 0 && max < 1<<31-1 {
		conns = uint64(max)
	}
	need := uint64(x.logs)*filesPerLog + conns + 64
	x.checked(fmt.Sprintf("open files: %d allowed, %d partitions", n, x.logs))
	do := fmt.Sprintf("Allow at least %d: LimitNOFILE= in the systemd unit, nofile in "+
		"/etc/security/limits.conf, or "+
		"--ulimit nofile= of the container.", need)
	switch {
	case n < uint64(x.logs)*filesPerLog+64:
		x.add(Error, "limits", "RLIMIT_NOFILE", fmt.Sprintf("%d open files are allowed, and %d partitions "+
			"need up to %d",
			n, x.logs, need), do)
	case n < need:
		x.add(Warning, "limits", "RLIMIT_NOFILE", fmt.Sprintf("%d open files are allowed; %d partitions and %d "+
			"connections need up to %d", n, x.logs, conns, need), do)
	}
}

// memory holds what requests may take against the memory limit.
func (x *examination) memory() {
	limit := x.cfg.Int64("kalda.memory.limit")
	if limit <= 0 {
		return
	}
	if n := x.cfg.Int64("queued.max.request.bytes"); n > limit/2 {
		x.add(Warning, "limits", x.file("queued.max.request.bytes"), fmt.Sprintf("requests may take %s, and "+
			"all memory is %s: there isn't room for both and the rest", size(uint64(n)), size(uint64(limit))),
			"Remove it, for a quarter of kalda.memory.limit, or set it to at most half of that.")
	}
	if n := int64(x.cfg.Int("socket.request.max.bytes")); n > limit/2 {
		x.add(Warning, "limits", x.file("socket.request.max.bytes"), fmt.Sprintf("it is %s, and requests of "+
			"more than half of kalda.memory.limit (%s) are refused", size(uint64(n)), size(uint64(limit))),
			"Raise kalda.memory.limit to twice the largest request, or lower socket.request.max.bytes.")
	}
}

// maxAhead is how far a file's time may be ahead of the clock.
const maxAhead = time.Minute

// clock finds a clock that nobody keeps, or that can't be right.
func (x *examination) clock() {
	now := x.host.Now()
	if now.Year() < 2024 {
		x.add(Error, "clock", "system clock", "it is "+now.Format(time.DateTime)+" here, which can't be: "+
			"retention and "+
			"record timestamps go by it", "Set the clock, and run a time service (chrony, systemd-timesyncd).")
	}
	ok, err := x.host.Synced()
	if err == nil && !ok {
		x.add(Info, "clock", "system clock", "the kernel says that no time service keeps the clock (a "+
			"container may not "+
			"see it)", "Run a time service (chrony, systemd-timesyncd) on the machine.")
	}
	x.checked("clock")
}

// ahead tells of a file from the future.
func (x *examination) ahead(file string, t time.Time) {
	if d := t.Sub(x.host.Now()); d > maxAhead {
		x.add(Warning, "clock", file, fmt.Sprintf("the newest file was written %s from now: the clock went "+
			"back, or this "+
			"machine's differs from the file server's", d.Round(time.Second)),
			"Set the clock right before the node starts: retention by time goes by it.")
	}
}

// Least free space, as a share of the volume and in bytes.
const (
	leastShare = 20 // one in
	leastFree  = 1 << 30
	noneFree   = 64 << 20
)

// volumes looks at the file systems under the folders.
func (x *examination) volumes() {
	for _, dir := range x.directories() {
		at, err := existing(x.host.FS.Stat, dir)
		if err != nil {
			continue // folders tells
		}
		v, err := x.host.Volume(at)
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		if err != nil {
			x.add(Warning, "disk", dir, "its file system can't be told: "+err.Error(), "Look at df.")
			continue
		}
		x.checked(fmt.Sprintf("disk of %s: %s, %s of %s free", dir, v.Kind, size(v.Free), size(v.Total)))
		x.space(dir, &v)
		x.kind(dir, &v)
	}
}

// directories are all folders of the node.
func (x *examination) directories() []string {
	dirs := slices.Clone(x.cfg.LogDirs)
	if !slices.Contains(dirs, x.cfg.MetadataLogDir) {
		dirs = append(dirs, x.cfg.MetadataLogDir)
	}
	return dirs
}

// existing is the nearest ancestor of dir that is there.
func existing(stat func(string) (fs.FileInfo, error), dir string) (string, error) {
	for {
		_, err := stat(dir)
		up := filepath.Dir(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || up == dir {
			return dir, err
		}
		dir = up
	}
}

func (x *examination) space(dir string, v *Volume) {
	const do = "Make room, or shorten retention (log.retention.bytes, log.retention.hours)."
	switch {
	case v.ReadOnly:
		x.add(Error, "disk", dir, "the file system is mounted read-only", "Mount it writable; look at dmesg "+
			"for why it "+
			"isn't: a disk error does that.")
	case v.Free < noneFree:
		x.add(Error, "disk", dir, size(v.Free)+" are free: the disk is as good as full", do)
	case v.Free < leastFree || v.Free < v.Total/leastShare:
		x.add(Warning, "disk", dir, fmt.Sprintf("%s of %s are free", size(v.Free), size(v.Total)), do)
	}
	if v.Files > 0 && v.FreeFiles < v.Files/leastShare {
		x.add(Warning, "disk", dir, fmt.Sprintf("%d of %d inodes are free", v.FreeFiles, v.Files),
			"Make room for more files, or use fewer and larger segments.")
	}
}

func (x *examination) kind(dir string, v *Volume) {
	switch v.Kind {
	case "nfs", "smb", "ceph", "9p", "afs", "lustre", "gfs2", "ocfs2", "fuse":
		x.add(Warning, "disk", dir, "it is on a network file system ("+v.Kind+"): locks, syncs and renames "+
			"may not hold "+
			"what they promise, and every write waits for the network", "Use a local disk.")
	case "tmpfs", "ramfs":
		x.add(Warning, "disk", dir, "it is in memory ("+v.Kind+"): all of it is gone after a restart of the "+
			"machine",
			"Use a disk, unless that is meant.")
	case "overlay":
		x.add(Warning, "disk", dir, "it is in a container's own layer (overlay): it is slow and goes with the "+
			"container",
			"Mount a volume there.")
	}
}

func size(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}
