package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxKey is the largest API key of Kafka 4.4.
const maxKey = 94

// keyApiVersions is the one API with rules of its own: its reply header is never flexible, and an unknown
// version of it is answered instead of closing.
const keyApiVersions = 18

// API is one row of a listener's table: what serves a request kind, and in which versions.
type API struct {
	Key, Min, Max int16
	// Serve handles one request on the connection's goroutine. See Request for how it answers.
	Serve func(*Request)
	// AdvertiseMin, if set, is the minimum that ApiVersions tells instead of Min (KAFKA-18659: librdkafka turns
	// features off unless it sees Produce v0, which nobody serves).
	AdvertiseMin *int16
	// MaxBody bounds the body; 0 is Config.MaxBody, the bound of requests that are decoded to structures.
	MaxBody int
	// Reuse says that Serve answers before it returns, or parks: the connection then uses its Request again.
	// Others get a Request of their own each time, so that a second answer, given in error, can't reach a later
	// request.
	Reuse bool
	// Hidden rows are served but not told by ApiVersions.
	Hidden bool
}

// defaultMaxBody bounds bodies that are decoded into structures, which are larger than their bytes. Only
// Produce, whose bytes stay bytes, takes frames up to socket.request.max.bytes.
const defaultMaxBody = 16 << 20

// Table is the APIs of a listener, by key.
type Table struct {
	apis  [maxKey + 1]*API
	vital bool
}

// Vital makes requests of this table be served even when memory is short: those of controllers, without which
// nothing goes on.
func (t *Table) Vital() *Table {
	t.vital = true
	return t
}

// NewTable makes a table. A key given twice or out of range is a programming error.
func NewTable(apis ...API) *Table {
	t := new(Table)
	for i := range apis {
		a := &apis[i]
		if a.Key < 0 || a.Key > maxKey || t.apis[a.Key] != nil || a.Serve == nil || a.Min > a.Max {
			panic(fmt.Sprintf("wire: bad or repeated API %d", a.Key))
		}
		t.apis[a.Key] = a
	}
	return t
}

// find returns the API that serves a key and version, or nil.
func (t *Table) find(key, version int16) *API {
	if key < 0 || key > maxKey {
		return nil
	}
	if a := t.apis[key]; a != nil && version >= a.Min && version <= a.Max {
		return a
	}
	return nil
}

// Rows is what ApiVersions tells about the table, in order of key.
func (t *Table) Rows() []kmsg.ApiVersionsResponseApiKey {
	rows := make([]kmsg.ApiVersionsResponseApiKey, 0, maxKey+1)
	for _, a := range t.apis {
		if a != nil && !a.Hidden {
			rows = append(rows, a.row())
		}
	}
	return rows
}

func (a *API) row() kmsg.ApiVersionsResponseApiKey {
	row := kmsg.ApiVersionsResponseApiKey{ApiKey: a.Key, MinVersion: a.Min, MaxVersion: a.Max}
	if a.AdvertiseMin != nil {
		row.MinVersion = *a.AdvertiseMin
	}
	return row
}

// never marks APIs that have no flexible version.
const never = 127

// flexibleFrom is the first version with tagged fields in the header, by key (broker.md 2, column F).
var flexibleFrom = [maxKey + 1]int8{
	0: 9, 1: 12, 2: 6, 3: 9, 4: 4, 5: 2, 6: 6, 7: 3, 8: 8, 9: 6, 10: 3, 11: 6, 12: 4, 13: 4, 14: 4, 15: 5, 16: 3,
	17: never, 18: 3, 19: 5, 20: 4, 21: 2, 22: 2, 23: 4, 24: 3, 25: 3, 26: 3, 27: 1, 28: 3, 29: 2, 30: 2, 31: 2,
	32: 4, 33: 2, 34: 2, 35: 2, 36: 2, 37: 2, 38: 2, 39: 2, 40: 2, 41: 2, 42: 2, 43: 2, 44: 1, 45: 0, 46: 0,
	47: never, 48: 1, 49: 1, 50: 0, 51: 0, 52: 0, 53: 1, 54: 1, 55: 0, 56: 0, 57: 0, 58: 0, 59: 0, 60: 0,
}

// flexible tells whether the request and reply of key have tagged fields at version.
func flexible(key, version int16) bool { return version >= int16(flexibleFrom[key]) }
