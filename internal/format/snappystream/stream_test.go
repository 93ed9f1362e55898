package snappystream

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func compressed(t *testing.T, b []byte, step int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for len(b) > 0 {
		n := min(step, len(b))
		if _, err := w.Write(b[:n]); err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestStream(t *testing.T) {
	for _, size := range []int{0, 1, writeBlock - 1, writeBlock, 3*writeBlock + 7} {
		b := bytes.Repeat([]byte("abcdefg"), size/7+1)[:size]
		c := compressed(t, b, 1000)
		got, err := io.ReadAll(NewReader(bytes.NewReader(append(c, c...))))
		if err != nil || !bytes.Equal(got, append(b, b...)) {
			t.Errorf("%d: %d bytes, %v", size, len(got), err)
		}
	}
}

func TestStream_Malformed(t *testing.T) {
	c := compressed(t, []byte("some text, some text, some text"), 100)
	for n := 1; n < len(c); n++ {
		if n == len(header) {
			continue // an empty stream
		}
		if _, err := io.ReadAll(NewReader(bytes.NewReader(c[:n]))); err == nil {
			t.Errorf("%d bytes of %d pass", n, len(c))
		}
	}
	for _, bad := range [][]byte{
		nil, []byte("\x00\x00\x00\x04abcd"), append(bytes.Clone(c[:16]), 0xff, 0xff, 0xff, 0xff),
		append(bytes.Clone(c[:16]), 0x7f, 0xff, 0xff, 0xff, 1),
	} {
		if _, err := io.ReadAll(NewReader(bytes.NewReader(bad))); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	var out bytes.Buffer
	w := NewWriter(&out)
	w.Write(bytes.Repeat([]byte("zookeeper "), 50))
	w.Close()
	f.Add(out.Bytes())
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = io.Copy(io.Discard, NewReader(bytes.NewReader(b)))
	})
}
