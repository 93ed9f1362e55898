package wire

import "time"

// The machine's clock may be set while the node runs, an hour back or forth. How long a connection was silent
// is told by a clock that only goes on.
var began = time.Now()

// ticks is how many ms went by until t, a time that this process took.
func ticks(t time.Time) int64 { return t.Sub(began).Milliseconds() }
