package wire

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Request is one request. Its Serve function answers it exactly once, at once or later and from any
// goroutine, with one of Reply, ReplyRaw, Begin+End, NoReply or Close; or it parks it with Park and answers
// when resumed. After answering, or after handing it to another goroutine, it must not touch the Request
// again.
type Request struct {
	Conn          *Conn
	Key, Version  int16
	CorrelationID int32
	ClientID      string
	Received      time.Time // when its bytes had arrived
	Size          int       // bytes of the frame
	// Body is the frame after the header. It aliases the connection's buffer: valid, and free to be changed,
	// until Serve returns. Decode copies; who keeps parts of Body otherwise copies them.
	Body []byte

	api    *API
	state  atomic.Int32
	began  time.Time      // when Serve was called; kept where there are quotas
	busy   atomic.Int64   // ns that Serve took, 0 until it returned
	resume func(*Request) // while parked with Park
	late   Out            // a reply that came while the connection was writing those before it
}

// The states of a Request.
const (
	pending   int32 = iota
	flushing        // unanswered, and the connection is writing the replies before it
	replying        // between Begin and End
	done            // answered
	abandoned       // the connection is gone: a late reply is dropped
)

// FileRange is a part of a reply that lies in a file.
type FileRange interface {
	Len() int
	// ReadAt reads from off within the range.
	ReadAt(p []byte, off int64) (int, error)
	// Descriptor tells the file's descriptor and the range's position in it; ok is false when there is none to
	// send from.
	Descriptor() (fd uintptr, pos int64, ok bool)
	// Release is called once, when the range has been sent or dropped.
	Release()
}

// Out is a reply being written: append to B, and call File where a range of a file belongs.
type Out struct {
	B     []byte
	files []fileAt
	start int // where this reply's size field is
	bytes int // of files in this reply
	real  bool
}

type fileAt struct {
	at int // in B
	f  FileRange
}

// File puts a range of a file at the end of what B holds now.
func (o *Out) File(f FileRange) {
	o.files = append(o.files, fileAt{len(o.B), f})
	o.bytes += f.Len()
}

// Decode reads the body into req, whose version it sets. False: the body was no such request, the connection
// is closing and nothing more needs to be answered. req owns its bytes.
func (r *Request) Decode(req kmsg.Request) bool {
	req.SetVersion(r.Version)
	if !r.Conn.lend(len(r.Body)) {
		return false
	}
	body := append([]byte(nil), r.Body...)
	if err := req.ReadFrom(body); err != nil {
		r.Close("body of " + kmsg.NameForKey(r.Key) + " can't be read: " + err.Error())
		return false
	}
	return true
}

// Reply answers with resp, at the request's version.
func (r *Request) Reply(resp kmsg.Response) {
	resp.SetVersion(r.Version)
	r.throttle(resp)
	r.ReplyRaw(resp.AppendTo)
}

// ReplyRaw answers with the body that fn appends.
func (r *Request) ReplyRaw(fn func(dst []byte) []byte) {
	o := r.Begin()
	o.B = fn(o.B)
	r.End(o)
}

// Begin starts a reply: what is then appended to it is the body. End finishes it.
func (r *Request) Begin() *Out {
	var o *Out
	switch r.answer() {
	case pending:
		if r.Conn.box == nil {
			r.Conn.takeOut()
		}
		o = &r.Conn.out
	case flushing:
		o = &r.late
	default:
		return new(Out) // abandoned, or answered twice: a scratch that goes nowhere
	}
	o.start, o.bytes, o.real = len(o.B), 0, true
	o.B = append(o.B, 0, 0, 0, 0)
	o.B = binary.BigEndian.AppendUint32(o.B, uint32(r.CorrelationID))
	if flexible(r.Key, r.Version) && r.Key != keyApiVersions {
		o.B = append(o.B, 0)
	}
	return o
}

// End finishes what Begin began.
func (r *Request) End(o *Out) {
	if !o.real {
		o.drop()
		return
	}
	n := len(o.B) - o.start
	binary.BigEndian.PutUint32(o.B[o.start:], uint32(n-4+o.bytes))
	if n > smallReply || wordy(r.Key) {
		r.Conn.srv.note(r.Key, n)
	}
	r.finish()
}

// answer takes the right to answer. It returns the state before; not pending or flushing: somebody answered
// already, or nobody waits any more.
func (r *Request) answer() int32 {
	for {
		state := r.state.Load()
		if state != pending && state != flushing || r.state.CompareAndSwap(state, replying) {
			return state
		}
	}
}

// NoReply finishes a request that has no answer (Produce with acks=0).
func (r *Request) NoReply() {
	if state := r.answer(); state == pending || state == flushing {
		r.finish()
	}
}

// Close finishes the request by closing its connection, after the replies before it are out, and logs why.
func (r *Request) Close(reason string) {
	if state := r.answer(); state == pending || state == flushing {
		r.Conn.failure = reason
		r.finish()
	}
}

// finish ends the request, whose answer is complete. After it, r may be in use for another one.
func (r *Request) finish() {
	c := r.Conn
	m := &c.srv.cfg.Metrics.Requests[r.Key]
	m.Count.Inc()
	m.Total.ObserveDuration(time.Since(r.Received))
	left := c.listening.Load() && (c.failure != "" || len(c.out.B) > 0 && !c.direct())
	c.waiting.Store(false)
	r.state.Store(done)
	if left {
		c.kick()
	} else {
		c.signal()
	}
}

// Park keeps the request unanswered: resume is called when Wake or Resume was called or until has come (zero:
// never), until the request is answered. Serve and resume never run at the same time, so what they share
// needs no lock. When Gone, resume must let go of what it holds and return.
func (r *Request) Park(until time.Time, resume func(*Request)) {
	r.resume = resume
	if !until.IsZero() {
		r.Conn.alarm(time.Until(until))
	}
}

// Waker is what wakes or resumes a parked request. It may be called from any goroutine, also too late or too
// often: resume must check what it waited for.
func (r *Request) Waker() *Conn { return r.Conn }

// Gone tells resume that nobody waits for the answer any more: the connection is closed or closing.
func (r *Request) Gone() bool { return r.Conn.gone }
