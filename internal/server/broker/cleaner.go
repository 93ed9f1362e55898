package broker

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/core/compact"
	"github.com/kalda/kalda/internal/disk/seglog"
)

// cleaner compacts the logs whose topics ask for it. It has log.cleaner.threads workers; each takes the log
// that needs it most, cleans it (see clean.go), and rests when there is none.
type cleaner struct {
	b    *Broker
	seed [2]uint64 // of the tables of keys: secret, so that nobody makes keys that collide
	pace pace

	picking sync.Mutex // held while a log is chosen: one worker does it at a time

	mu    sync.Mutex
	live  int // workers
	busy  map[*Partition]bool
	unfit map[*Partition]int64 // that couldn't be cleaned and aren't tried again, with their bytes
	last  time.Time            // when a log was chosen last
}

// cleanerSettings are the keys that may change while the broker runs.
type cleanerSettings struct {
	threads int     // log.cleaner.threads
	memory  int64   // of each worker's table: log.cleaner.dedupe.buffer.size
	load    float64 // log.cleaner.io.buffer.load.factor
	buffer  int     // log.cleaner.io.buffer.size, of each worker
	rate    float64 // log.cleaner.io.max.bytes.per.second
	rest    time.Duration
}

func (c *cleaner) init(b *Broker) {
	c.b = b
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	c.seed = [2]uint64{binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])}
	c.busy, c.unfit = map[*Partition]bool{}, map[*Partition]int64{}
	c.last = time.Now()
}

func (c *cleaner) settings() cleanerSettings {
	s := cleanerSettings{
		threads: 1, memory: 128 << 20, load: 0.9, buffer: 512 << 10, rate: math.MaxFloat64, rest: 15 * time.Second,
	}
	if n := c.b.cfg.Node; n != nil {
		k := n.With(c.b.dynamic(c.b.Image()))
		s = cleanerSettings{
			threads: k.Int("log.cleaner.threads"), memory: k.Int64("log.cleaner.dedupe.buffer.size"),
			load: k.Float("log.cleaner.io.buffer.load.factor"), buffer: k.Int("log.cleaner.io.buffer.size"),
			rate: k.Float("log.cleaner.io.max.bytes.per.second"),
			rest: time.Duration(k.Int64("log.cleaner.backoff.ms")) * time.Millisecond,
		}
		if !k.Bool("log.cleaner.enable") {
			s.threads = 0
		}
	}
	per := max(s.threads, 1)
	s.memory /= int64(per)
	s.buffer /= 2 * per // for reading and for writing
	s.rest = max(s.rest, 10*time.Millisecond)
	return s
}

// run starts as many workers as there are to be, again and again: the number may change.
func (c *cleaner) run() {
	for {
		s := c.settings()
		for c.enlist(1, s.threads) {
			c.b.logs.wg.Go(c.work)
		}
		if !c.sleep(min(s.rest, time.Second)) {
			return
		}
	}
}

// enlist changes the number of workers by one, unless that leads away from how many there are to be.
func (c *cleaner) enlist(by, want int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by > 0 && c.live >= want || by < 0 && c.live <= want {
		return false
	}
	c.live += by
	return true
}

func (c *cleaner) work() {
	for {
		s := c.settings()
		if c.enlist(-1, s.threads) || c.stopped() {
			return
		}
		if !c.cleanOne(&s) && !c.sleep(s.rest) {
			return
		}
	}
}

func (c *cleaner) stopped() bool {
	select {
	case <-c.b.logs.stop:
		return true
	default:
		return false
	}
}

// sleep is false if the broker stops.
func (c *cleaner) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.b.logs.stop:
		return false
	case <-timer.C:
		return true
	}
}

// job is a log to be cleaned.
type job struct {
	p     *Partition
	rules *topicRules
	segs  *seglog.Cleaning
	state compact.State
	compact.Range
}

// choose finds the log that needs cleaning most, nil if there is none, and takes it.
func (c *cleaner) choose(now int64, chunk int) *job {
	c.picking.Lock()
	defer c.picking.Unlock()
	var best *job
	var dirtiest float64
	var late int64
	c.b.each(func(p *Partition) {
		if !p.rules.Load().log.Compact || p.offline() || !c.free(p) {
			return
		}
		j, err := c.look(p, now, chunk)
		if err != nil {
			c.failed(p, err)
		}
		if j == nil {
			return
		}
		dirtiest, late = max(dirtiest, j.Ratio()), max(late, j.Late)
		if j.Due(&j.rules.compact) && (best == nil || j.Before(&best.Range)) {
			best = j
		}
	})
	c.b.m.MaxDirty.Set(int64(100 * dirtiest))
	c.b.m.MaxCompactionDelay.Set(late / 1000)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	if best != nil {
		c.busy[best.p] = true
	}
	return best
}

func (c *cleaner) free(p *Partition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, unfit := c.unfit[p]
	return !unfit && !c.busy[p]
}

func (c *cleaner) done(p *Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, p)
}

// look plans the cleaning of one log; nil if there is nothing to clean. Most logs are told by what is
// known of them without reading anything.
func (c *cleaner) look(p *Partition, now int64, chunk int) (*job, error) {
	l := p.log
	if l.Segments() < 2 {
		return nil, nil
	}
	j := &job{p: p, rules: p.rules.Load()}
	var err error
	if j.segs, err = l.StartCleaning(chunk); err != nil {
		return nil, err
	}
	cfg := &j.rules.compact
	j.state = compact.State{Start: l.StartOffset(), End: l.EndOffset(), Stable: p.HW(), Cleaned: l.Cleaned()}
	infos := j.segs.Segments()
	j.state.Segments = make([]compact.Segment, len(infos))
	for i, s := range infos {
		seg := compact.Segment{Base: s.Base, Size: s.Size, Index: s.Index, TimeIndex: s.TimeIndex}
		timed := cfg.MinLagMs > 0 || cfg.MaxLagMs < math.MaxInt64
		if timed && i+1 < len(infos) && infos[i+1].Base > j.state.Cleaned {
			if seg.First, seg.Largest, err = j.segs.Times(i); err != nil {
				return nil, err
			}
		}
		j.state.Segments[i] = seg
	}
	j.Range = compact.Plan(&j.state, cfg, now)
	if !j.Due(cfg) {
		return j, nil
	}
	// What a transaction may still undo isn't known before the producers are.
	if err := p.ensureProducers(); err != nil {
		return nil, err
	}
	j.state.Stable = p.LSO()
	j.Range = compact.Plan(&j.state, cfg, now)
	return j, nil
}

// Uncleanable tells, by log directory, how many logs couldn't be cleaned, and their bytes.
func (b *Broker) Uncleanable() (byDir map[string][2]int64) {
	byDir = map[string][2]int64{}
	for _, d := range b.logs.dirs {
		byDir[d.path] = [2]int64{}
	}
	c := &b.cleaner
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, bytes := range c.unfit {
		n := byDir[p.dir.path]
		byDir[p.dir.path] = [2]int64{n[0] + 1, n[1] + bytes}
	}
	return byDir
}

// CleanersMissing is how many workers there are less than there are to be.
func (b *Broker) CleanersMissing() int {
	s := b.cleaner.settings()
	b.cleaner.mu.Lock()
	defer b.cleaner.mu.Unlock()
	return max(s.threads-b.cleaner.live, 0)
}

// SinceCleanerRan is how long ago a log to clean was looked for.
func (b *Broker) SinceCleanerRan() time.Duration {
	b.cleaner.mu.Lock()
	defer b.cleaner.mu.Unlock()
	return time.Since(b.cleaner.last)
}

// pace keeps all workers together below a rate.
type pace struct {
	mu    sync.Mutex
	start time.Time
	bytes float64
}

// take counts n bytes and returns how long to rest.
func (p *pace) take(n int, rate float64, now time.Time) time.Duration {
	if rate >= math.MaxInt64 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	const window = time.Second
	elapsed := now.Sub(p.start)
	if due := time.Duration(p.bytes / max(rate, 1) * float64(time.Second)); elapsed > max(due, window) {
		p.start, p.bytes, elapsed = now, 0, 0
	}
	p.bytes += float64(n)
	return max(time.Duration(min(p.bytes/max(rate, 1)*float64(time.Second), math.MaxInt64/2))-elapsed, 0)
}
