package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// master is one of several processes that agree on who leads.
type master struct {
	servers []string
	path    string // where they meet
	name    string
	timeout time.Duration
	tell    func(string) // is told of each change
	dial    zk.Dialer    // nil: TCP
}

// run takes part until the context ends. A session that has expired, and the place in line with it, is
// replaced by a new one.
func (m *master) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := m.session(ctx); err != nil {
			m.tell(fmt.Sprintf("%s starts over: %v", m.name, err))
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// session takes part for as long as one session lives.
func (m *master) session(ctx context.Context) error {
	dial := m.dial
	if dial == nil {
		dial = net.DialTimeout
	}
	conn, events, err := zk.Connect(m.servers, m.timeout, zk.WithLogger(quiet{}), zk.WithDialer(dial))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, conn.Close)() // what waits for an answer doesn't hold the end up
	defer conn.Close()                         // a master that is told to go leaves its place at once
	mine, err := m.register(conn)
	if err != nil {
		return err
	}
	m.tell(fmt.Sprintf("%s registers as %s", m.name, mine))
	for {
		before, gone, err := m.ahead(conn, mine)
		switch {
		case errors.Is(err, errOvertaken):
			continue // whoever was ahead went between two looks
		case err != nil:
			return err
		case before == "":
			m.tell(m.name + " leads")
			return m.lead(ctx, events)
		}
		m.tell(fmt.Sprintf("%s waits for %s", m.name, before))
		if err := m.wait(ctx, gone, events); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// register makes this master's node. Its name holds the session's number, so that a registration whose answer
// was lost is found again instead of made twice.
func (m *master) register(conn *zk.Conn) (string, error) {
	open := zk.WorldACL(zk.PermAll)
	if _, err := conn.Create(m.path, nil, 0, open); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return "", err
	}
	path, err := conn.CreateProtectedEphemeralSequential(m.path+"/master-", []byte(m.name), open)
	return strings.TrimPrefix(path, m.path+"/"), err
}

var errOvertaken = errors.New("it went meanwhile")

// ahead is the node just before this master's, with a channel that tells when something happens to it; nothing
// when this one is first. To watch only the one before is what keeps a death from waking everybody.
func (m *master) ahead(conn *zk.Conn, mine string) (before string, gone <-chan zk.Event, err error) {
	all, _, err := conn.Children(m.path)
	if err != nil {
		return "", nil, err
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	at := slices.Index(all, mine)
	if at < 0 {
		return "", nil, errors.New("this master's node is gone")
	}
	if at == 0 {
		return "", nil, nil
	}
	exists, _, gone, err := conn.ExistsW(m.path + "/" + all[at-1])
	if err == nil && !exists {
		err = errOvertaken
	}
	return all[at-1], gone, err
}

// number is the ten digits at the end of a sequential node's name.
func number(node string) string { return node[max(0, len(node)-10):] }

// lead holds the lead until the context ends or the session may be lost. A leader that cannot reach ZooKeeper
// has to stop working before its session expires, since the next one leads then.
func (m *master) lead(ctx context.Context, events <-chan zk.Event) error {
	for {
		select {
		case <-ctx.Done():
			m.tell(m.name + " steps down")
			return nil
		case e := <-events:
			if e.State == zk.StateDisconnected || e.State == zk.StateExpired {
				m.tell(m.name + " no longer leads")
				return errors.New("ZooKeeper is out of reach")
			}
		}
	}
}

// wait waits until the master before this one may be gone.
func (m *master) wait(ctx context.Context, gone <-chan zk.Event, events <-chan zk.Event) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-gone:
			return e.Err
		case e := <-events:
			if e.State == zk.StateExpired {
				return zk.ErrSessionExpired
			}
		}
	}
}
