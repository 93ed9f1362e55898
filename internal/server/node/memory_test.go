package node

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kalda/kalda/internal/wire"
)

func TestMemoryLimit_KeyThenEnvironmentThenContainer(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	v2 := fstest.MapFS{
		"proc/self/cgroup":                file("0::/a/b\n"),
		"sys/fs/cgroup/a/memory.max":      file("1000\n"),
		"sys/fs/cgroup/a/b/memory.max":    file("max\n"),
		"sys/fs/cgroup/unrelated/nothing": file(""),
	}
	inside := fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("2000\n")}
	v1 := fstest.MapFS{
		"proc/self/cgroup":                           file("5:cpu:/x\n4:hugetlb,memory:/docker/1\n"),
		"sys/fs/cgroup/memory/memory.limit_in_bytes": file("3000\n"),
	}
	none := fstest.MapFS{
		"proc/self/cgroup":                           file("4:memory:/\n"),
		"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
	}
	for _, c := range []struct {
		key, runtime int64
		root         fstest.MapFS
		want         memory
	}{
		{7, 8, v2, memory{7, "kalda.memory.limit"}},
		{0, 8, v2, memory{0, "kalda.memory.limit"}},
		{-1, 8, v2, memory{8, "GOMEMLIMIT"}},
		{-1, math.MaxInt64, v2, memory{1000, "the container"}},
		{-1, math.MaxInt64, inside, memory{2000, "the container"}},
		{-1, math.MaxInt64, v1, memory{3000, "the container"}},
		{-1, math.MaxInt64, none, memory{}},
		{-1, math.MaxInt64, fstest.MapFS{}, memory{}},
	} {
		if got := memoryLimit(c.key, c.runtime, c.root); got != c.want {
			t.Errorf("%d, %d: %+v, want %+v", c.key, c.runtime, got, c.want)
		}
	}
}

func TestMemory_BoundsTheSockets(t *testing.T) {
	cfg := embedded(t, t.TempDir())
	log := new(bytes.Buffer)
	bound := func(limit int64, files uint64) wire.Config {
		w, err := wireConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		memory{limit, "a test"}.bound(cfg, &w, files, slog.New(slog.NewTextHandler(log, nil)))
		return w
	}
	if w := bound(256<<20, 20000); w.MaxRequestBytes != 64<<20 || w.MaxConns != 13107 || w.MaxFrame != 100<<20 {
		t.Errorf("%+v", w)
	}
	if w := bound(64<<20, 1024); w.MaxConns != 768 || w.MaxFrame != 32<<20 || w.MaxBody != 1<<20 ||
		!strings.Contains(log.String(), "requests of more than 33554432 bytes are refused") {
		t.Errorf("%+v\n%s", w, log)
	}
	if w := bound(0, 0); w.MaxRequestBytes > 0 || w.MaxConns != math.MaxInt32 {
		t.Errorf("%+v", w)
	}
}
