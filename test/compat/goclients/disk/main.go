// Command disk fills a broker with everything that has to survive on disk, writes down what a client then sees, and
// checks later, on another broker over the same folder, that the same is seen.
//
//	disk fill PREFIX    makes topics PREFIX-…, records, groups and an idempotent producer
//	disk see PREFIX     prints all of it as JSON
//	disk check FILE     compares what is there with an earlier `see`, and ends with "N passed, M failed"
//
// BOOTSTRAP is the broker.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/test/compat/goclients/internal/suite"
)

// disk is one run against one broker.
type disk struct {
	ctx    context.Context
	cl     *kgo.Client
	adm    *kadm.Client
	prefix string
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: disk fill|see|check PREFIX|FILE")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "disk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, verb, arg string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP")), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer cl.Close()
	d := &disk{ctx: ctx, cl: cl, adm: kadm.NewClient(cl), prefix: arg}
	switch verb {
	case "fill":
		return d.fill()
	case "see":
		s, err := d.see()
		if err != nil {
			return err
		}
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", " ")
		return e.Encode(s)
	case "check":
		return d.check(arg)
	}
	return fmt.Errorf("no verb %s", verb)
}

// check reports each thing that was seen as one check.
func (d *disk) check(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var want seen
	if err := json.Unmarshal(text, &want); err != nil {
		return err
	}
	d.prefix = want.Prefix
	got, err := d.see()
	if err != nil {
		return err
	}
	s := suite.New("disk")
	for _, name := range slices.Sorted(maps.Keys(want.Topics)) {
		s.Check("topic "+name, func() error { return same(want.Topics[name], got.Topics[name]) })
	}
	for _, name := range slices.Sorted(maps.Keys(want.Groups)) {
		s.Check("group "+name, func() error { return same(want.Groups[name], got.Groups[name]) })
	}
	s.Check("nothing else", func() error {
		return same(slices.Sorted(maps.Keys(want.Topics)), slices.Sorted(maps.Keys(got.Topics)))
	})
	s.Check("the idempotent producer's window", d.window)
	s.Finish()
	return nil
}

func same[T any](want, got T) error {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	w, _ := json.Marshal(want)
	g, _ := json.Marshal(got)
	return fmt.Errorf("\n  want %s\n  got  %s", w, g)
}
