package node

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/obs"
)

// TestDev: Kafka and ZooKeeper in one process, the one's data within the other's folder; if one doesn't
// start, neither runs.
func TestDev(t *testing.T) {
	dir := t.TempDir()
	ports := [3]int{freePort(t), freePort(t), freePort(t)}
	zk := zooKeeper(func() (*config.ZooKeeper, config.Warnings, error) {
		flags := "-Dzookeeper.admin.enableServer=false -Dzookeeper.4lw.commands.whitelist=*"
		return config.ZooKeeperArgs([]string{strconv.Itoa(ports[2]), filepath.Join(dir, "zookeeper")}, flags)
	})
	cfg, _, err := config.Embedded(dir, []string{
		fmt.Sprintf("listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", ports[0], ports[1]),
		fmt.Sprintf("advertised.listeners=PLAINTEXT://127.0.0.1:%d", ports[0]), "kalda.http.listener=",
	})
	if err != nil {
		t.Fatal(err)
	}
	logs := obs.NewLogs(new(bytes.Buffer), 8)
	for range 2 { // and again, on what is there
		n, other, err := startBoth(t.Context(), cfg, logs, zk)
		if err != nil {
			t.Fatal(err)
		}
		if got := word(t, ports[2], "ruok"); got != "imok" {
			t.Errorf("ZooKeeper says %q", got)
		}
		if !strings.Contains(other.banner, strconv.Itoa(ports[2])) {
			t.Errorf("the banner is %q", other.banner)
		}
		if _, _, err := startBoth(t.Context(), cfg, logs, zk); err == nil {
			t.Error("it started twice")
		}
		stop(t, n)
		if err := other.stop(); err != nil {
			t.Error(err)
		}
	}
}

func word(t *testing.T, port int, w string) string {
	nc, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = nc.Write([]byte(w))
	b, _ := io.ReadAll(nc)
	return string(b)
}
