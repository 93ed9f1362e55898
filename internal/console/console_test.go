package console

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kalda/kalda/internal/obs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, ready func() error) string {
	t.Helper()
	reg := new(obs.Registry)
	var c obs.Counter
	c.Add(3)
	reg.Counter(&obs.Desc{Name: "kafka_test_total", Help: "Things.", Kind: obs.KindCounter}, &c)
	s, err := Start(Config{Addr: "127.0.0.1:0", Metrics: reg.Handler(), Ready: ready})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestMetricsAndHealth(t *testing.T) {
	var up atomic.Bool
	addr := start(t, func() error {
		if up.Load() {
			return nil
		}
		return errors.New("recovering 3 logs")
	})
	code, body := get(t, "http://"+addr+"/metrics")
	if code != 200 || !strings.Contains(body, "\nkafka_test_total 3\n") ||
		!strings.Contains(body, "go_goroutines") {
		t.Error(code, body)
	}
	if code, body := get(t, "http://"+addr+"/health/live"); code != 200 || body != "live\n" {
		t.Error(code, body)
	}
	if code, body := get(t, "http://"+addr+"/health/ready"); code != 503 || body != "recovering 3 logs\n" {
		t.Error(code, body)
	}
	up.Store(true)
	if code, _ := get(t, "http://"+addr+"/health/ready"); code != 200 {
		t.Error(code)
	}
	if code, _ := get(t, "http://"+addr+"/etc/passwd"); code != 404 {
		t.Error(code)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	addr := start(t, nil)
	var held []net.Conn
	for range maxConns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if _, err = io.WriteString(c, "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err = c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	late, err := net.Dial("tcp", addr) // in the backlog
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	_, _ = io.WriteString(late, "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = late.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := late.Read(make([]byte, 1)); err == nil {
		t.Error("a connection over the bound was served")
	}
	for _, c := range held {
		_ = c.Close()
	}
	_ = late.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := late.Read(make([]byte, 1)); err != nil {
		t.Error("a connection was not served once there was room:", err)
	}
}

func TestBusyAddressIsNamed(t *testing.T) {
	addr := start(t, nil)
	if _, err := Start(Config{Addr: addr}); err == nil || !strings.Contains(err.Error(),
		"kalda.http.listener="+addr) {
		t.Error(err)
	}
}
