package record

import "fmt"

// TxnStatus is the state of a transactional id, as __transaction_state numbers it.
type TxnStatus int8

// The states. Dead and PrepareEpochFence are never written.
const (
	TxnEmpty TxnStatus = iota
	TxnOngoing
	TxnPrepareCommit
	TxnPrepareAbort
	TxnCompleteCommit
	TxnCompleteAbort
	TxnDead
	TxnPrepareEpochFence
)

var txnNames = [...]string{
	"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
	"PrepareEpochFence",
}

// String is the state's name in requests and tools.
func (s TxnStatus) String() string {
	if s < 0 || int(s) >= len(txnNames) {
		return fmt.Sprintf("Unknown(%d)", int8(s))
	}
	return txnNames[s]
}

// ParseTxnStatus is the state of a name.
func ParseTxnStatus(name string) (TxnStatus, bool) {
	for i, n := range txnNames {
		if n == name {
			return TxnStatus(i), true
		}
	}
	return 0, false
}

// TxnTopic is the partitions of one topic that a transaction has.
type TxnTopic struct {
	Topic      string
	Partitions []int32
	Tags       []Tag
}

// TxnValue is a transactional id's state. Version 1 is written where transaction.version is at least 1.
type TxnValue struct {
	Version       int16
	ProducerID    int64
	ProducerEpoch int16
	Timeout       int32 // ms
	Status        TxnStatus
	Topics        []TxnTopic // nil is null, as it is exactly in Empty
	LastUpdate    int64      // ms
	Start         int64      // ms; -1: none yet
	PreviousID    int64      // the producer id before this one, -1 for none. v1+, as are those that follow
	NextID        int64      // the one that the end of the transaction will bring, -1 for none
	ClientVersion int16      // transaction.version as the client speaks it
	NextEpoch     int16      // for transactions in two phases (KIP-939)
	Tags          []Tag
}

// TxnKey is the key of a transactional id.
func TxnKey(id string) []byte {
	c := groupCoder{coder: coder{b: make([]byte, 0, 4+len(id))}}
	kind := int16(0)
	c.int16(&kind)
	c.string(&id)
	return c.b
}

// DecodeTxnKey reads a key of __transaction_state. A kind that doesn't exist (yet) is no error: known tells.
func DecodeTxnKey(b []byte) (id string, known bool, err error) {
	c := groupCoder{coder: coder{b: b, decoding: true}}
	kind := c.short()
	if c.err != nil || kind != 0 {
		return "", false, c.err
	}
	c.string(&id)
	return id, true, c.done("transaction key")
}

// DecodeTxnValue reads a value of __transaction_state.
func DecodeTxnValue(b []byte) (v TxnValue, err error) {
	v.PreviousID, v.NextID, v.NextEpoch = -1, -1, -1
	c := groupCoder{coder: coder{b: b, decoding: true}}
	c.int16(&v.Version)
	if c.err == nil && (v.Version < 0 || v.Version > 1) {
		c.fail(fmt.Sprintf("version %d", v.Version))
	}
	c.flexible = v.Version >= 1
	v.code(&c)
	return v, c.done("transaction")
}

// Encode writes v in its Version.
func (v *TxnValue) Encode() []byte {
	c := groupCoder{coder: coder{b: make([]byte, 0, 64)}, flexible: v.Version >= 1}
	c.int16(&v.Version)
	v.code(&c)
	return c.b
}

func (v *TxnValue) code(c *groupCoder) {
	c.int64(&v.ProducerID)
	c.int16(&v.ProducerEpoch)
	c.int32(&v.Timeout)
	c.int8((*int8)(&v.Status))
	v.codeTopics(c)
	c.int64(&v.LastUpdate)
	c.int64(&v.Start)
	if v.Version >= 1 {
		c.tags(&v.Tags,
			tag{0, v.PreviousID != -1, func() { c.int64(&v.PreviousID) }},
			tag{1, v.NextID != -1, func() { c.int64(&v.NextID) }},
			tag{2, v.ClientVersion != 0, func() { c.int16(&v.ClientVersion) }},
			tag{3, v.NextEpoch != -1, func() { c.int16(&v.NextEpoch) }})
	}
}

func (v *TxnValue) codeTopics(c *groupCoder) {
	n := int32(len(v.Topics))
	if v.Topics == nil {
		n = -1
	}
	c.nullableCount(&n, 3)
	if c.decoding && n >= 0 {
		v.Topics = make([]TxnTopic, n)
	}
	for i := 0; i < len(v.Topics) && c.err == nil; i++ {
		t := &v.Topics[i]
		c.string(&t.Topic)
		n := int32(len(t.Partitions))
		c.count(&n, 4)
		if c.decoding {
			t.Partitions = make([]int32, n)
		}
		for j := range t.Partitions {
			c.int32(&t.Partitions[j])
		}
		if c.flexible {
			c.tags(&t.Tags)
		}
	}
}

// nullableCount is count for an array that may be null: -1.
func (c *groupCoder) nullableCount(n *int32, min int) {
	switch {
	case c.flexible && c.decoding:
		*n = int32(c.uvarint()) - 1
	case c.flexible:
		c.putUvarint(uint64(*n + 1))
	default:
		c.int32(n)
	}
	if c.decoding && (*n < -1 || int64(*n)*int64(min) > int64(len(c.b))) {
		c.fail("array longer than its record")
		*n = -1
	}
}
