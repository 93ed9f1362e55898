// Package console is the node's HTTP side: metrics for Prometheus and health for whoever runs the node.
//
//	/metrics       metrics in Prometheus' text format
//	/health/live   200 while the process can answer at all
//	/health/ready  200 while the node does its job, else 503 with the reason
//
// It is off unless kalda.http.listener says where to listen. It speaks plain HTTP without authentication
// and shows nothing of the data, so it is bounded rather than guarded: few connections, short waits, no
// request bodies.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The bounds of the server.
const (
	maxConns      = 64
	maxHeader     = 16 << 10
	headerTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 60 * time.Second
)

// Config is what the console shows.
type Config struct {
	Addr    string       // host:port, kalda.http.listener
	Metrics http.Handler // obs.Registry.Handler
	// Ready says why the node isn't ready; nil: it is.
	Ready func() error
	Log   *slog.Logger
}

// Server is a listening console.
type Server struct {
	http *http.Server
	l    net.Listener
	done chan struct{}
}

// Start listens and serves until Close.
func Start(cfg Config) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("kalda.http.listener=%s: %w", cfg.Addr, err)
	}
	s := &Server{l: newLimited(l, maxConns), done: make(chan struct{})}
	s.http = &http.Server{
		Handler:           handler(cfg),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	if cfg.Log != nil {
		s.http.ErrorLog = slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)
	}
	go func() { // ends with Close
		defer close(s.done)
		if err := s.http.Serve(s.l); !errors.Is(err, http.ErrServerClosed) && cfg.Log != nil {
			cfg.Log.Error("the console stopped", "error", err)
		}
	}()
	return s, nil
}

// Addr is where the console listens.
func (s *Server) Addr() net.Addr { return s.l.Addr() }

// Close stops the console; answers under way get until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.done
	return err
}

func handler(cfg Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics)
	mux.HandleFunc("GET "+
		"/health/live", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "live") })
	mux.HandleFunc("GET /health/ready", func(w http.ResponseWriter, _ *http.Request) {
		if cfg.Ready != nil {
			if err := cfg.Ready(); err != nil {
				text(w, http.StatusServiceUnavailable, err.Error())
				return
			}
		}
		text(w, http.StatusOK, "ready")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		text(w, http.StatusOK, "/metrics\n/health/live\n/health/ready")
	})
	return mux
}

func text(w http.ResponseWriter, status int, s string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, s+"\n")
}
