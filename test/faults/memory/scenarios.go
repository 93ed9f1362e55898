package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// judged runs fn against a node and has the last word.
func judged(n *node, err error, fn func() error) error {
	if err != nil {
		return err
	}
	err = fn()
	return errors.Join(err, n.finish())
}

var smallLog = map[string]string{"segment.bytes": "16777216", "retention.bytes": "33554432"}

// flood offers produce requests of 256 KiB on all connections as fast as the machine can.
func flood(o *options) error {
	const partitions = 16
	n, err := start(o, partitions, smallLog, "log.retention.check.interval.ms=1000",
		"log.initial.task.delay.ms=1000", "log.segment.delete.delay.ms=1000")
	return judged(n, err, func() error {
		var done, replies atomic.Int64
		var wg sync.WaitGroup
		errs := make(chan error, o.conns)
		until := time.Now().Add(time.Duration(o.seconds) * time.Second)
		for i := range o.conns {
			frame, err := produceFrame(int32(i%partitions), 256<<10)
			if err != nil {
				return err
			}
			c, err := dial(n.addr)
			if err != nil {
				return fmt.Errorf("connection %d: %w", i, err)
			}
			wg.Go(func() {
				if err := pour(c, frame, until, &done, &replies); err != nil {
					errs <- fmt.Errorf("connection %d: %w", i, err)
				}
			})
		}
		wg.Wait()
		fmt.Printf("  %d connections, %.2f GB/s taken and acknowledged, %d requests\n", o.conns,
			float64(done.Load())/float64(o.seconds)/1e9, replies.Load())
		select {
		case err := <-errs:
			return err
		default:
			return nil
		}
	})
}

// pour writes a frame again and again, five ahead of the replies.
func pour(c *client, frame []byte, until time.Time, done, replies *atomic.Int64) error {
	defer c.close()
	_ = c.SetDeadline(until.Add(30 * time.Second))
	ahead := make(chan struct{}, 5)
	failed := make(chan error, 1)
	go func() {
		buf := make([]byte, 4096)
		for range ahead {
			if _, err := c.skip(buf); err != nil {
				failed <- err
				c.close()
				return
			}
			replies.Add(1)
		}
		failed <- nil
	}()
	for time.Now().Before(until) {
		select {
		case ahead <- struct{}{}:
		case err := <-failed:
			return err
		}
		if _, err := c.Write(frame); err != nil {
			close(ahead)
			return errors.Join(err, <-failed)
		}
		done.Add(int64(len(frame)))
	}
	close(ahead)
	return <-failed
}

// idle makes many connections that send what they are given and no more, and waits until the node has
// closed them all.
func idle(o *options, what string, send []byte) error {
	n, err := start(o, 1, smallLog, "connections.max.idle.ms=30000")
	return judged(n, err, func() error {
		var conns []*client
		began := time.Now()
		for i := range o.many {
			c, err := dial(n.addr)
			if err != nil {
				return fmt.Errorf("connection %d: %w", i, err)
			}
			defer c.close()
			conns = append(conns, c)
			if _, err := c.Write(send); err != nil {
				return fmt.Errorf("connection %d: %w", i, err)
			}
		}
		made := time.Since(began)
		time.Sleep(2 * time.Second)
		fmt.Printf("  %d %s in %.1f s: RSS %d MiB, %d bytes a connection\n", len(conns), what, made.Seconds(),
			n.now()>>20, (n.now()-20<<20)/int64(len(conns)))
		for i, c := range conns {
			_ = c.SetReadDeadline(time.Now().Add(2 * time.Minute))
			var b [1]byte
			if _, err := c.Read(b[:]); err != nil && !errors.Is(err, io.EOF) && !reset(err) {
				return fmt.Errorf("connection %d wasn't closed: %w", i, err)
			}
		}
		fmt.Printf("  all closed after %.1f s; RSS %d MiB\n", time.Since(began).Seconds(), n.now()>>20)
		return nil
	})
}

func reset(err error) bool { return err != nil && bytes.Contains([]byte(err.Error()), []byte("reset")) }

// silent connections say nothing at all.
func silent(o *options) error { return idle(o, "silent connections", nil) }

// half-sent frames announce 100 MB and stop after some.
func half(o *options) error {
	frame, err := produceFrame(0, 20000)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(frame, 100<<20)
	for _, size := range []int{600, 6000, 20000} {
		if err := idle(o, fmt.Sprintf("frames of 100 MB that stop after %d "+
			"bytes", size), frame[:size]); err != nil {
			return err
		}
	}
	return nil
}

// fill produces megabytes to every partition.
func fill(n *node, partitions int32, bytes, size int) error {
	c, err := dial(n.addr)
	if err != nil {
		return err
	}
	defer c.close()
	buf := make([]byte, 4096)
	for p := range partitions {
		frame, err := produceFrame(p, size)
		if err != nil {
			return err
		}
		for sent := 0; sent < bytes; sent += len(frame) {
			if _, err := c.Write(frame); err != nil {
				return err
			}
			if _, err := c.skip(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// unread sends fetches on some connections, reads nothing for a while, and then some replies of each.
func unread(n *node, conns, requests, read int, frame []byte) error {
	var all []*client
	for range conns {
		c, err := dial(n.addr)
		if err != nil {
			return err
		}
		defer c.close()
		all = append(all, c)
		for range requests {
			if _, err := c.Write(frame); err != nil {
				return err
			}
		}
	}
	time.Sleep(10 * time.Second)
	fmt.Printf("  %d readers with %d replies due each read nothing: RSS %d MiB\n", conns, requests, n.now()>>20)
	buf := make([]byte, 1<<20)
	total, cut := 0, 0
	for _, c := range all {
		_ = c.SetReadDeadline(time.Now().Add(60 * time.Second))
		for range read {
			got, err := c.skip(buf)
			total += got
			if err != nil {
				cut++ // to have room, the node may close those that take nothing
				break
			}
		}
	}
	fmt.Printf("  then read: %d MB; %d of %d readers were closed meanwhile\n", total/1_000_000, cut, conns)
	if total == 0 {
		return errors.New("nothing was readable")
	}
	return nil
}

// slow has readers that don't read 1 GB of replies each: large ranges, which stay in their files.
func slow(o *options) error {
	n, err := start(o, 1, nil)
	return judged(n, err, func() error {
		if err := fill(n, 1, 100<<20, 900<<10); err != nil {
			return err
		}
		return unread(n, 20, 20, 20, fetchFrame(1, 50<<20, 50<<20))
	})
}

// slowCopied is slow with replies of many small ranges, which are copied.
func slowCopied(o *options) error {
	n, err := start(o, 500, nil)
	return judged(n, err, func() error {
		if err := fill(n, 500, 30<<10, 30<<10); err != nil {
			return err
		}
		return unread(n, 200, 70, 2, fetchFrame(500, 32<<10, 50<<20))
	})
}

// bodies sends requests that are small on the wire and large in memory.
func bodies(o *options) error {
	n, err := start(o, 1, smallLog)
	return judged(n, err, func() error {
		req := kmsg.NewPtrMetadataRequest()
		req.Version = 9
		for i := range o.limit / 256 / 8 {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = new(strconv.FormatInt(i+36*36*36, 36))
			req.Topics = append(req.Topics, t)
		}
		frame := (&client{}).frame(req)
		fmt.Printf("  20 Metadata requests of %d topics, %d bytes\n", len(req.Topics), len(frame))
		var wg sync.WaitGroup
		var served, closed atomic.Int64
		for range 20 {
			c, err := dial(n.addr)
			if err != nil {
				return err
			}
			wg.Go(func() {
				defer c.close()
				_ = c.SetDeadline(time.Now().Add(60 * time.Second))
				_, err := c.Write(frame)
				if err == nil {
					_, err = c.skip(make([]byte, 1<<16))
				}
				if err != nil {
					closed.Add(1)
					return
				}
				served.Add(1)
			})
		}
		wg.Wait()
		fmt.Printf("  %d served, %d closed\n", served.Load(), closed.Load())
		return nil
	})
}
