// Command compat runs other people's clients and tools against a node, unattended: Apache's Java tools and clients, kcat,
// kafka-python, confluent-kafka, kafkajs, sarama and franz-go, and the disk both ways. It fetches what it needs from the
// package registries, starts what it tests on free ports in a temporary folder, and ends only what it started.
//
//	go run ./test/compat [flags] [all | smoke | SUITE...]
//
// It ends with a table, one line "N passed, M failed", and exit code 1 if anything failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// env is one run: what to test, with what, and where its files are.
type env struct {
	ctx   context.Context
	root  string // the repository
	work  string // everything this run writes, but for the cache
	cache string // what was fetched, kept between runs
	kalda string // the binary under test
	node  string // "kalda" or "apache": what the suites' broker is
	at    string // a broker that runs already, instead
	show  bool   // every check, not just failures
}

func main() {
	e := &env{}
	keep := flag.Bool("keep", false, "keep the temporary folder (logs, data) and say where it is")
	list := flag.Bool("list", false, "list the suites and end")
	flag.StringVar(&e.node, "node", "kalda", "whose broker to test: kalda or apache (do the suites pass where they must?)")
	flag.StringVar(&e.at, "bootstrap", "", "test the broker at host:port instead of starting one; no disk suites")
	flag.BoolVar(&e.show, "v", false, "show every check")
	flag.StringVar(&e.cache, "cache", defaultCache(), "where fetched things are kept")
	flag.Parse()
	if *list {
		for _, s := range suites() {
			fmt.Printf("%-14s %s\n", s.name, s.what)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e.ctx = ctx
	ok, err := e.main(flag.Args(), *keep)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func defaultCache() string {
	dir, err := os.UserCacheDir() // XDG_CACHE_HOME, or ~/.cache
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "kalda-compat")
}

func (e *env) main(names []string, keep bool) (ok bool, err error) {
	chosen, err := choose(names, e.at != "")
	if err != nil {
		return false, err
	}
	if e.root, err = repositoryRoot(); err != nil {
		return false, err
	}
	if e.work, err = os.MkdirTemp("", "kalda-compat-"); err != nil {
		return false, err
	}
	if keep {
		defer fmt.Println("kept:", e.work)
	} else {
		defer os.RemoveAll(e.work)
	}
	e.kalda = filepath.Join(e.work, "kalda")
	if err := e.sh(e.root, nil, "go", "build", "-o", e.kalda, "./cmd/kalda"); err != nil {
		return false, err
	}
	return report(e.runAll(chosen)), nil
}

func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil &&
			strings.HasPrefix(string(text), "module github.com/kalda/kalda\n") {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("run it inside the repository")
		}
		dir = filepath.Dir(dir)
	}
}

// report prints the table and the closing line.
func report(results []result) bool {
	fmt.Printf("\n%-14s %7s %7s %8s\n", "suite", "passed", "failed", "seconds")
	var passed, failed int
	for _, r := range results {
		note := ""
		if r.err != nil {
			note = "  " + r.err.Error()
		}
		fmt.Printf("%-14s %7d %7d %8.1f%s\n", r.suite, r.passed, r.failed, r.took.Round(100*time.Millisecond).Seconds(), note)
		passed += r.passed
		failed += r.failed
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	return failed == 0 && passed > 0
}
