package ensemble

import (
	"fmt"
	"slices"
	"time"
)

// isWord says whether a connection that begins so is a four-letter word.
func isWord(w string) bool {
	switch w {
	case "conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "hash", "isro", "mntr", "ruok", "srst", "srvr",
		"stat", "stmk", "wchc", "wchp", "wchs":
		return true
	}
	return false
}

// onWord answers a four-letter word and ends the connection.
func (c *conn) onWord(word string) error {
	out := &wordWriter{c: c}
	switch {
	case !c.s.allows(word):
		fmt.Fprintf(out, "%s is not executed because it is not in the whitelist.\n", word)
	default:
		c.s.answerWord(word, wordReader{c}, out)
	}
	out.flush()
	c.leave()
	return nil
}

func (s *Server) allows(word string) bool {
	return slices.Contains(s.opts.allowed, word) || slices.Contains(s.opts.allowed, "*")
}

// wordReader reads what a client sends after its word.
type wordReader struct{ c *conn }

func (r wordReader) Read(p []byte) (int, error) {
	c := r.c
	if c.r < c.w {
		n := copy(p, c.in[c.r:c.w])
		c.r += n
		return n, nil
	}
	return c.nc.Read(p)
}

// wordWriter sends an answer as it grows: some are long.
type wordWriter struct {
	c   *conn
	buf []byte
}

// Write implements io.Writer.
func (w *wordWriter) Write(p []byte) (int, error) {
	if w.buf = append(w.buf, p...); len(w.buf) >= largeBuf {
		w.flush()
	}
	return len(p), nil
}

func (w *wordWriter) flush() {
	if len(w.buf) > 0 && !w.c.dead.Load() {
		_ = w.c.nc.SetWriteDeadline(time.Now().Add(wordPatience))
		if _, err := w.c.nc.Write(w.buf); err != nil {
			w.c.kill()
		}
	}
	w.buf = w.buf[:0]
}

// wordPatience is how long a client may take to read a part of an answer.
const wordPatience = 10 * time.Second
