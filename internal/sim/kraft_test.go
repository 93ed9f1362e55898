package sim

import (
	"flag"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
)

var (
	seedFlag  = flag.Uint64("sim.seed", 0, "run this seed alone")
	seedsFlag = flag.Uint64("sim.seeds", 60, "how many seeds to run")
)

// scenario derives everything from the seed, so that the seed alone repeats it.
func scenario(seed uint64) *KRaft {
	return &KRaft{
		Seed: seed, Voters: []int{1, 3, 3, 5, 3, 2}[seed%6], Observers: int(seed/6) % 3, Dynamic: seed/2%2 == 1,
		Faults: true, Time: 40 * time.Second,
	}
}

func TestKRaft(t *testing.T) {
	if *seedFlag != 0 {
		run(t, *seedFlag)
		return
	}
	for seed := uint64(1); seed <= *seedsFlag; seed++ {
		run(t, seed)
	}
}

func run(t *testing.T, seed uint64) {
	if err := scenario(seed).Run(); err != nil {
		t.Fatalf("%v\nrepeat: go test ./internal/sim -run TestKRaft -sim.seed=%d", err, seed)
	}
}

// TestSameSeedSameRun: what a failure prints must be enough to repeat it.
func TestSameSeedSameRun(t *testing.T) {
	a, b := scenario(4), scenario(4)
	if err := a.Run(); err != nil {
		t.Fatal(err)
	}
	if err := b.Run(); err != nil {
		t.Fatal(err)
	}
	if a.seq != b.seq || a.describe() != b.describe() {
		t.Errorf("%d events, then %d:%s\n%s", a.seq, b.seq, a.describe(), b.describe())
	}
}

// TestCanary plants bugs. A simulation that doesn't find them is broken.
func TestCanary(t *testing.T) {
	for name, bug := range map[string]kraft.Canary{
		"a follower acknowledges before its sync":      kraft.CanaryEarlyFetch,
		"a second vote is given in an epoch":           kraft.CanaryForgetVote,
		"an old epoch's records count as a majority's": kraft.CanaryOldEpochs,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 300; seed++ {
				k := scenario(seed)
				k.Canary = bug
				if err := k.Run(); err != nil {
					t.Logf("seed %d: %.80s", seed, err)
					return
				}
			}
			t.Error("not found")
		})
	}
}
