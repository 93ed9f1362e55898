package compact

import (
	"encoding/binary"
	"math/bits"

	"github.com/kalda/kalda/internal/format/batch"
)

// slotBytes is the memory of one key, as Apache counts it: the key's hash and its offset.
const slotBytes = 24

// prime is 2^61-1.
const prime = 1<<61 - 1

// Keys maps the hashes of keys to the newest offsets at which they were seen. Two different keys with the
// same hash would be taken for one, and the older one lost. So the hash has 122 bits, and its collisions
// have a proven bound: it is a pair of polynomials over a prime field, with the key's bytes as
// coefficients, at two secret points. Keys of n bytes collide with a probability of (n/7)^2 / 2^122,
// whatever the keys are.
type Keys struct {
	points [2]uint64
	slots  []slot
	used   int
	most   int64 // slots that there may be
	limit  int   // Put is refused from here on
	latest batch.Offset
}

type slot struct {
	hash   [2]uint64 // hash[0] is never 0 in a used slot
	offset batch.Offset
}

// NewKeys makes a table of so many bytes, of which the part load (0..1] may be used, seeded with secret
// random numbers. Of that memory it takes only what a part of the log of expect records needs.
func NewKeys(bytes int64, load float64, expect int64, seed [2]uint64) *Keys {
	most := max(bytes/slotBytes, 2)
	limit := int64(float64(most) * load)
	n := most
	if expect < limit { // room for all, half full
		n = min(most, max(2*expect, 16))
	}
	k := &Keys{most: most, limit: int(min(max(limit, 1), n-1)), slots: make([]slot, n), latest: -1}
	for i, s := range seed {
		k.points[i] = 1<<32 + s%(prime-1<<33) // neither small nor 0
	}
	return k
}

// Latest is up to which offset the log is covered; -1: nothing is.
func (k *Keys) Latest() batch.Offset { return k.latest }

// Len is how many keys there are.
func (k *Keys) Len() int { return k.used }

// Load is which part of the memory is used.
func (k *Keys) Load() float64 { return float64(k.used) / float64(k.most) }

// Put notes that a key is at offset o, which is after all that were put before. False: there is no room.
func (k *Keys) Put(key []byte, o batch.Offset) bool {
	if k.used >= k.limit {
		return false
	}
	s, found := k.find(k.sum(key))
	if !found {
		k.used++
	}
	s.offset = o
	k.latest = max(k.latest, o)
	return true
}

// Get is the newest offset of a key; -1 if it wasn't put.
func (k *Keys) Get(key []byte) batch.Offset {
	s, found := k.find(k.sum(key))
	if !found {
		s.hash = [2]uint64{}
		return -1
	}
	return s.offset
}

// Cover says that everything up to offset o was looked at.
func (k *Keys) Cover(o batch.Offset) { k.latest = max(k.latest, o) }

// find is the slot of a hash. If there is none, it makes one.
func (k *Keys) find(h [2]uint64) (s *slot, found bool) {
	at, _ := bits.Mul64(scatter(h[0]), uint64(len(k.slots)))
	for i := int(at); ; i++ {
		if i == len(k.slots) {
			i = 0
		}
		switch s = &k.slots[i]; {
		case s.hash == h:
			return s, true
		case s.hash[0] == 0:
			s.hash = h
			return s, false
		}
	}
}

// scatter spreads hashes over 64 bits: those of keys that are alike lie in a pattern.
func scatter(h uint64) uint64 {
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 32
	return h * 0xd6e8feb86659fd93
}

// sum is the hash. Seven bytes at a time are numbers below the prime.
func (k *Keys) sum(b []byte) [2]uint64 {
	p, q := k.points[0], k.points[1]
	h, g := uint64(len(b))+1, uint64(len(b))+1
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b) & (1<<56 - 1)
		h, g = step(h, p, x), step(g, q, x)
		b = b[7:]
	}
	var tail [8]byte
	copy(tail[:], b)
	x := binary.LittleEndian.Uint64(tail[:])
	h, g = step(h, p, x), step(g, q, x)
	return [2]uint64{h%prime + 1, g % prime}
}

// step is h*p + x modulo the prime, not always fully reduced.
func step(h, p, x uint64) uint64 {
	hi, lo := bits.Mul64(h, p)
	r := lo&prime + (lo>>61 | hi<<3) + x
	return r&prime + r>>61
}
