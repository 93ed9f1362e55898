// Command ledger keeps account of records: what a broker acknowledged has to be there in the end, once.
//
//	ledger produce TOPIC FILE   until standard input ends: numbered records, acks=all; FILE gets the numbers acknowledged
//	ledger check TOPIC FILE     reads the topic from its beginning to its end
//
// BOOTSTRAP is a list of brokers.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "ledger: produce or check, TOPIC, FILE")
		os.Exit(2)
	}
	run := map[string]func(topic, file string) error{"produce": produce, "check": check}[os.Args[1]]
	if err := run(os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

func client(opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(opts, kgo.SeedBrokers(strings.Split(os.Getenv("BOOTSTRAP"), ",")...))...)
}

// every is the pause between records: the faults are what matters, not the load.
const every = 3 * time.Millisecond

func produce(topic, file string) error {
	cl, err := client(kgo.DefaultProduceTopic(topic), kgo.RecordDeliveryTimeout(3*time.Minute), kgo.MetadataMaxAge(5*time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	var mu sync.Mutex
	var fault error
	for n := 0; ; n++ {
		value := strconv.Itoa(n)
		cl.Produce(context.Background(), kgo.StringRecord(value), func(_ *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fault = errors.Join(fault, err)
				return
			}
			_, err = fmt.Fprintln(out, value)
			fault = errors.Join(fault, err)
		})
		select {
		case <-ended:
			if err := cl.Flush(context.Background()); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return errors.Join(fault, out.Close())
		case <-time.After(every):
		}
	}
}

func check(topic, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	found, err := readAll(topic)
	if err != nil {
		return err
	}
	acked, lost, twice := 0, 0, 0
	for s := bufio.NewScanner(in); s.Scan(); acked++ {
		switch found[s.Text()] {
		case 0:
			lost++
		case 1:
		default:
			twice++
		}
	}
	fmt.Printf("%d acknowledged, %d in the topic, %d lost, %d there more than once\n", acked, len(found), lost, twice)
	if lost+twice > 0 || acked < 100 {
		return errors.New("the account is wrong, or too small to show anything")
	}
	return nil
}

// readAll counts the values from the beginning to the high watermarks.
func readAll(topic string) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cl, err := client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, err
	}
	left := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	found := map[string]int{}
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			found[string(r.Value)]++
			if r.Offset >= left[r.Partition]-1 {
				delete(left, r.Partition)
			}
		})
	}
	return found, nil
}
