package batch

import "math/bits"

// varint reads one zig-zag number at b[p]. Next is -1 if there is none, and then so it stays: callers check
// once a record.
func varint(b []byte, p int) (v int64, next int) {
	if uint(p) < uint(len(b)) && b[p] < 0x80 {
		return int64(b[p]>>1) ^ -int64(b[p]&1), p + 1
	}
	return longVarint(b, p)
}

func longVarint(b []byte, p int) (v int64, next int) {
	if p < 0 {
		return 0, -1
	}
	if p+1 < len(b) && b[p+1] < 0x80 { // two bytes: most lengths
		u := uint64(b[p]&0x7f) | uint64(b[p+1])<<7
		return int64(u>>1) ^ -int64(u&1), p + 2
	}
	var u uint64
	for s := uint(0); s < 64 && p < len(b); s += 7 {
		c := b[p]
		p++
		if c < 0x80 {
			if s == 63 && c > 1 {
				return 0, -1
			}
			u |= uint64(c) << s
			return int64(u>>1) ^ -int64(u&1), p
		}
		u |= uint64(c&0x7f) << s
	}
	return 0, -1
}

func varintLen(v int64) int {
	return (bits.Len64(uint64(v<<1)^uint64(v>>63)|1) + 6) / 7
}
