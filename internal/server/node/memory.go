package node

import (
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/wire"
)

// memory is how much the process may use, and who says so; zero is no limit.
type memory struct {
	limit  int64
	source string
}

// memoryLimit finds the limit: the key's, else GOMEMLIMIT's, which the runtime has taken already, else the
// container's.
func memoryLimit(key int64, runtime int64, root fs.FS) memory {
	switch {
	case key >= 0:
		return memory{key, "kalda.memory.limit"}
	case runtime < math.MaxInt64:
		return memory{runtime, "GOMEMLIMIT"}
	}
	if n := cgroupLimit(root); n > 0 {
		return memory{n, "the container"}
	}
	return memory{}
}

// cgroupLimit is the least memory limit of this process's control groups; 0 if there is none. Both versions
// are looked at: v2's memory.max, and memory.limit_in_bytes of v1, which says no limit by a huge number.
func cgroupLimit(root fs.FS) int64 {
	const unlimited = 1 << 60
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(unlimited)
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		switch {
		case f[0] == "0" && f[1] == "":
		case strings.Contains(","+f[1]+",", ",memory,"):
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be the host's, which isn't there: then only the top is seen.
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			b, err := fs.ReadFile(root, path.Join(base, dir, file))
			if n, perr := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && perr == nil && n > 0 {
				least = min(least, n)
			}
			if dir == "/" {
				break
			}
		}
	}
	if least == unlimited {
		return 0
	}
	return least
}

// apply tells the runtime: it collects more often near the limit. What isn't the runtime's, as the program
// itself, is left out. GOMEMLIMIT stays as it is.
func (m memory) apply() {
	if m.limit > 0 && m.source != "GOMEMLIMIT" {
		debug.SetMemoryLimit(max(m.limit-m.limit/10-16<<20, m.limit/2))
	}
}

// bound fits the sockets' bounds into the memory that this process may use.
func (n *Node) bound(w *wire.Config) {
	m := memoryLimit(n.cfg.Int64("kalda.memory.limit"), debug.SetMemoryLimit(-1), os.DirFS("/"))
	m.apply()
	m.bound(n.cfg, w, openFiles(), n.log)
}

// openFiles is how many files the process may have open; 0 if that can't be told.
func openFiles() uint64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0
	}
	return r.Cur
}

// Shares of the limit, and what a connection is reckoned to take when it has nothing to do.
const (
	requestShare = 4
	frameShare   = 2
	connShare    = 2
	connBytes    = 10 << 10
	bodyShare    = 256
	minBody      = 1 << 20
	maxBody      = 16 << 20
	logFiles     = 4096 // are kept for logs, when there are that many
)

// bound fits the bounds of the sockets into the memory, and into the files that may be open.
func (m memory) bound(c *config.Server, w *wire.Config, files uint64, log *slog.Logger) {
	w.MaxRequestBytes = c.Int64("queued.max.request.bytes")
	if m.limit > 0 {
		log.Info(fmt.Sprintf("memory is limited to %d MiB by %s", m.limit>>20, m.source))
		if w.MaxRequestBytes <= 0 {
			w.MaxRequestBytes = m.limit / requestShare
		}
		w.MaxConns = min(w.MaxConns, int(min(m.limit/connShare/connBytes, math.MaxInt32)))
		if most := m.limit / frameShare; int64(w.MaxFrame) > most {
			w.MaxFrame = int32(most)
			log.Warn(fmt.Sprintf("requests of more than %d bytes are refused: socket.request.max.bytes is more than "+
				"half of the memory", most))
		}
		w.MaxBody = int(min(max(m.limit/bodyShare, minBody), maxBody))
	}
	if files > 0 { // a quarter is for logs
		w.MaxConns = min(w.MaxConns, int(min(files-min(files/4, logFiles), math.MaxInt32)))
	}
}
