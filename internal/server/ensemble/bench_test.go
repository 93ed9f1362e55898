package ensemble

import (
	"testing"

	"github.com/kalda/kalda/internal/format/jute"
)

// BenchmarkWrite is one client that writes one request after the other, synced.
func BenchmarkWrite(b *testing.B) {
	s := serveOn(b, nil, testConfig(b, "", "preAllocSize=65536"))
	c := open(b, s)
	c.create("/n", "", 0)
	data := make([]byte, 1000)
	for b.Loop() {
		c.must(jute.OpSetData, &jute.SetDataRequest{Path: "/n", Data: data, Version: -1}, nil)
	}
}

// BenchmarkPipelined is writes of many clients at once, without a disk to wait for.
func BenchmarkPipelined(b *testing.B) {
	s := serveOn(b, nil, testConfig(b, "", "preAllocSize=65536", "forceSync=no"))
	c := open(b, s)
	c.create("/n", "", 0)
	const depth = 500
	data := make([]byte, 1000)
	var frames []byte
	for i := range int32(depth) {
		r := &jute.SetDataRequest{Path: "/n", Data: data, Version: -1}
		frames = append(frames, bytesOf(i+1, jute.OpSetData, r)...)
	}
	for n := 0; n < b.N; n += depth {
		go c.write(frames)
		for range depth {
			if h, _ := c.reply(); h.Err != jute.OK {
				b.Fatal(h)
			}
		}
	}
}

// BenchmarkRead is pipelined reads of one client.
func BenchmarkRead(b *testing.B) {
	s := serve(b)
	c := open(b, s)
	c.create("/n", string(make([]byte, 1000)), 0)
	const depth = 500
	var frames []byte
	for i := range int32(depth) {
		frames = append(frames, bytesOf(i+1, jute.OpGetData, &jute.PathWatch{Path: "/n"})...)
	}
	for n := 0; n < b.N; n += depth {
		go c.write(frames)
		for range depth {
			if h, _ := c.reply(); h.Err != jute.OK {
				b.Fatal(h)
			}
		}
	}
}
