// Package suite is what the Go suites share: counted checks, waiting, and what was written.
package suite

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
)

// Partitions is how many a suite's topic has.
const Partitions = 3

const limit = 60 * time.Second

// Suite counts checks.
type Suite struct {
	Bootstrap      string
	Topic, Group   string
	passed, failed int
}

// New reads BOOTSTRAP, and names a topic and a group after the client.
func New(client string) *Suite {
	run := fmt.Sprintf("%x", time.Now().UnixNano())
	return &Suite{Bootstrap: os.Getenv("BOOTSTRAP"), Topic: client + "-" + run, Group: client + "-group-" + run}
}

// Check runs one check, and says ok or FAIL. A panic counts as a failure.
func (s *Suite) Check(name string, body func() error) {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return body()
	}()
	if err != nil {
		s.failed++
		fmt.Printf("FAIL %s: %v\n", name, err)
		return
	}
	s.passed++
	fmt.Println("ok", name)
}

// Finish prints the closing line and ends the process.
func (s *Suite) Finish() {
	fmt.Printf("%d passed, %d failed\n", s.passed, s.failed)
	if s.failed > 0 || s.passed == 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

// Until waits for done.
func Until(what string, done func() bool) error {
	for end := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("never: %s", what)
		}
	}
	return nil
}

// Log is values by partition, in order. Safe for several goroutines.
type Log struct {
	mu     sync.Mutex
	values [Partitions][]string
}

// Add appends a value.
func (l *Log) Add(partition int32, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values[partition] = append(l.values[partition], value)
}

// Count is the number of values.
func (l *Log) Count() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.values {
		n += len(v)
	}
	return n
}

// Len is the number of values of one partition.
func (l *Log) Len(partition int32) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.values[partition])
}

// Values makes n new ones, adds them, dealt out to the partitions in turn, and gives each to send.
func (l *Log) Values(label string, n int, send func(partition int32, value string)) {
	for i := range n {
		v := fmt.Sprintf("%s-%d-%s", label, i, strings.Repeat("x", i))
		l.Add(int32(i%Partitions), v)
		send(int32(i%Partitions), v)
	}
}

// Mark is where a log stands, for Since.
type Mark [Partitions]int

// Mark remembers how long the log is.
func (l *Log) Mark() (m Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, v := range l.values {
		m[p] = len(v)
	}
	return m
}

// Same says whether got holds what l holds since the mark, in the same order.
func (l *Log) Same(got *Log, since Mark) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	got.mu.Lock()
	defer got.mu.Unlock()
	for p := range l.values {
		want := l.values[p][since[p]:]
		if len(want) != len(got.values[p]) || len(want) > 0 && !reflect.DeepEqual(want, got.values[p]) {
			return fmt.Errorf("partition %d: %d values wanted, got %d", p, len(want), len(got.values[p]))
		}
	}
	return nil
}

// Member is one member of a group.
type Member interface {
	Got() *Log
	Assigned() []int32 // now; none while a rebalance goes on
	Close() error      // commits, leaves
}

// TwoMembers opens one member, then a second, then closes the first: nothing is read twice.
func TwoMembers(written *Log, open func() (Member, error)) error {
	a, err := open()
	if err != nil {
		return err
	}
	defer a.Close()
	if err := Until("all partitions to the first member", func() bool { return len(a.Assigned()) == Partitions }); err != nil {
		return err
	}
	if err := Until("all records", func() bool { return a.Got().Count() >= written.Count() }); err != nil {
		return err
	}
	if err := written.Same(a.Got(), Mark{}); err != nil {
		return err
	}
	b, err := open()
	if err != nil {
		return err
	}
	defer b.Close()
	if err := Until("the partitions shared", func() bool {
		x, y := len(a.Assigned()), len(b.Assigned())
		return x > 0 && y > 0 && x+y == Partitions
	}); err != nil {
		return err
	}
	if err := a.Close(); err != nil {
		return err
	}
	if err := Until("all partitions to the second member", func() bool { return len(b.Assigned()) == Partitions }); err != nil {
		return err
	}
	if n := b.Got().Count(); n > 0 {
		return fmt.Errorf("%d records read again", n)
	}
	return b.Close()
}

// Resume writes more, and opens a member that gets exactly that.
func Resume(written *Log, produce func() error, open func() (Member, error)) error {
	mark, before := written.Mark(), written.Count()
	if err := produce(); err != nil {
		return err
	}
	m, err := open()
	if err != nil {
		return err
	}
	defer m.Close()
	if err := Until("what came since", func() bool { return m.Got().Count() >= written.Count()-before }); err != nil {
		return err
	}
	return written.Same(m.Got(), mark)
}
