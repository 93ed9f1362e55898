package tool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/tool/opt"
)

// payloads makes the keys and values of a load test.
type payloads struct {
	random   *rand.Rand
	pool     []byte   // random values are cut out of it: they need not be made one by one
	size     int      // of a random value
	lines    []string // of the payload file
	counting bool     // the value is the record's number
	largest  int
	keys     int64 // keys are below this; 0 without keys
	shuffled bool  // keys at random
}

func (env *Env) payloadsOf(o *opt.Options) (*payloads, error) {
	seed, err := argInt(o, "random-seed", 0)
	if err != nil {
		return nil, err
	}
	g := &payloads{
		random: rand.New(rand.NewPCG(uint64(seed), 0)), counting: o.Has("payload-monotonic"),
		largest: 20,
	}
	if err := g.keysOf(o); err != nil {
		return nil, err
	}
	if file := o.Or("payload-file", ""); file != "" {
		return g, env.payloadFile(g, file, delimiterOf(o.Or("payload-delimiter", "\n")))
	}
	if !o.Has("record-size") {
		return g, nil
	}
	size, err := argInt(o, "record-size", 0)
	switch {
	case err != nil:
		return nil, err
	case size <= 0:
		return nil, usagef("--record-size should be greater than zero.")
	case size > 1<<31-1:
		return nil, usagef("argument --record-size: could not convert '%d' to Integer (For input string: \"%d\")",
			size, size)
	}
	g.size, g.largest = int(size), int(size)
	g.pool = make([]byte, g.size+1<<20)
	for i := range g.pool {
		g.pool[i] = 'A' + byte(g.random.IntN(26))
	}
	return g, nil
}

func (g *payloads) keysOf(o *opt.Options) error {
	how := o.Or("key-distribution", "none")
	if oneOf("", how, "none", "range", "random") != nil {
		return usagef("argument --key-distribution: invalid choice: '%s' (choose from {none,range,random})", how)
	}
	n, err := argInt(o, "record-key-range", 0)
	switch {
	case err != nil:
		return err
	case how == "none" && o.Has("record-key-range"):
		return usagef("--key-distribution must be 'range' or 'random' when --record-key-range is specified.")
	case how == "none":
		return nil
	case !o.Has("record-key-range"):
		return usagef("--record-key-range is required when --key-distribution is 'range' or 'random'.")
	case n <= 0:
		return usagef("--record-key-range should be greater than zero.")
	}
	g.keys, g.shuffled = n, how == "random"
	return nil
}

// payloadFile reads the payloads of a file.
func (env *Env) payloadFile(g *payloads, file, delimiter string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "Reading payloads from: %s\n", path)
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return errors.New("java.lang.IllegalArgumentException: File does not exist or empty file provided.")
	}
	g.lines = strings.Split(string(data), delimiter)
	for len(g.lines) > 1 && g.lines[len(g.lines)-1] == "" {
		g.lines = g.lines[:len(g.lines)-1]
	}
	fmt.Fprintf(env.Out, "Number of records read: %d\n", len(g.lines))
	for _, l := range g.lines {
		g.largest = max(g.largest, len(l))
	}
	return nil
}

// next returns the key and the value of the i-th record. They must not be written to.
func (g *payloads) next(i int64) (key, value []byte) {
	switch {
	case g.keys > 0 && g.shuffled:
		key = strconv.AppendInt(nil, g.random.Int64N(g.keys), 10)
	case g.keys > 0:
		key = strconv.AppendInt(nil, i%g.keys, 10)
	}
	switch {
	case g.counting:
		value = strconv.AppendInt(nil, i, 10)
	case g.lines != nil:
		value = []byte(g.lines[g.random.IntN(len(g.lines))])
	default:
		at := g.random.IntN(len(g.pool) - g.size + 1)
		value = g.pool[at : at+g.size : at+g.size]
	}
	return key, value
}
