package record

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Tag is a tagged field that this code doesn't know, kept so that a record survives decoding and encoding.
type Tag struct {
	Number uint32
	Value  []byte
}

// coder walks a record's fields in wire order, either filling them from b or appending them to b. One walk
// for both directions means that they can't disagree.
type coder struct {
	b        []byte
	decoding bool
	err      error // decoding only; the first one stays and everything after reads as zero
}

func (c *coder) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	c.b = nil
}

func (c *coder) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.fail("short")
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *coder) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 || v > math.MaxUint32 {
		c.fail("varint")
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *coder) putUvarint(v uint64) { c.b = binary.AppendUvarint(c.b, v) }

func (c *coder) bool(v *bool) {
	if !c.decoding {
		x := byte(0)
		if *v {
			x = 1
		}
		c.b = append(c.b, x)
	} else if b := c.take(1); b != nil {
		*v = b[0] != 0
	}
}

func (c *coder) int8(v *int8) {
	if !c.decoding {
		c.b = append(c.b, byte(*v))
	} else if b := c.take(1); b != nil {
		*v = int8(b[0])
	}
}

func (c *coder) uint16(v *uint16) {
	if !c.decoding {
		c.b = binary.BigEndian.AppendUint16(c.b, *v)
	} else if b := c.take(2); b != nil {
		*v = binary.BigEndian.Uint16(b)
	}
}

func (c *coder) int16(v *int16) {
	u := uint16(*v)
	c.uint16(&u)
	*v = int16(u)
}

func (c *coder) int32(v *int32) {
	if !c.decoding {
		c.b = binary.BigEndian.AppendUint32(c.b, uint32(*v))
	} else if b := c.take(4); b != nil {
		*v = int32(binary.BigEndian.Uint32(b))
	}
}

func (c *coder) node(v *NodeID) { c.int32((*int32)(v)) }

func (c *coder) int64(v *int64) {
	if !c.decoding {
		c.b = binary.BigEndian.AppendUint64(c.b, uint64(*v))
	} else if b := c.take(8); b != nil {
		*v = int64(binary.BigEndian.Uint64(b))
	}
}

func (c *coder) float64(v *float64) {
	i := int64(math.Float64bits(*v))
	c.int64(&i)
	*v = math.Float64frombits(uint64(i))
}

func (c *coder) uuid(v *UUID) {
	if !c.decoding {
		c.b = append(c.b, v[:]...)
	} else if b := c.take(16); b != nil {
		copy(v[:], b)
	}
}

func (c *coder) string(v *string) {
	if !c.decoding {
		c.putUvarint(uint64(len(*v)) + 1)
		c.b = append(c.b, *v...)
		return
	}
	n := c.uvarint()
	if n == 0 {
		c.fail("null string")
		return
	}
	*v = string(c.take(n - 1))
}

func (c *coder) nullableString(v **string) {
	if !c.decoding && *v == nil {
		c.putUvarint(0)
		return
	}
	if !c.decoding {
		c.string(*v)
		return
	}
	n := c.uvarint()
	if n == 0 {
		*v = nil
		return
	}
	s := string(c.take(n - 1))
	*v = &s
}

func (c *coder) bytes(v *[]byte) {
	if !c.decoding {
		c.putUvarint(uint64(len(*v)) + 1)
		c.b = append(c.b, *v...)
		return
	}
	n := c.uvarint()
	if n == 0 {
		c.fail("null bytes")
		return
	}
	*v = c.take(n - 1)
}

// list codes a compact array; nil is written as empty, or as null where that is allowed. An array can't
// have more elements than the bytes left hold at min bytes each, so a lying count can't make us allocate.
func list[T any](c *coder, v *[]T, nullable bool, min int, each func(*T)) {
	if !c.decoding {
		if *v == nil && nullable {
			c.putUvarint(0)
			return
		}
		c.putUvarint(uint64(len(*v)) + 1)
		for i := range *v {
			each(&(*v)[i])
		}
		return
	}
	n := c.uvarint()
	if n == 0 {
		if !nullable {
			c.fail("null array")
		}
		*v = nil
		return
	}
	n--
	if n*uint64(min) > uint64(len(c.b)) {
		c.fail("array longer than its record")
		return
	}
	if n == 0 && !nullable {
		*v = nil
		return
	}
	*v = make([]T, n)
	for i := range *v {
		each(&(*v)[i])
		if c.err != nil {
			return
		}
	}
}

func (c *coder) nodes(v *[]NodeID)         { list(c, v, false, 4, c.node) }
func (c *coder) nullableNodes(v *[]NodeID) { list(c, v, true, 4, c.node) }
func (c *coder) uuids(v *[]UUID)           { list(c, v, false, 16, c.uuid) }
func (c *coder) nullableUUIDs(v *[]UUID)   { list(c, v, true, 16, c.uuid) }

// tag is a tagged field that this code knows.
type tag struct {
	number uint32
	set    bool // encoding: differs from its default
	code   func()
}

// tags codes the section that ends every struct. known is ascending by number; unknown fields are kept in
// extra.
func (c *coder) tags(extra *[]Tag, known ...tag) {
	if c.decoding {
		c.readTags(extra, known)
		return
	}
	n := len(*extra)
	for i := range known {
		if known[i].set {
			n++
		}
	}
	c.putUvarint(uint64(n))
	rest := *extra
	for i := range known {
		for len(rest) > 0 && rest[0].Number < known[i].number {
			c.putTag(rest[0].Number, rest[0].Value)
			rest = rest[1:]
		}
		if known[i].set {
			outer := c.b
			c.b = nil
			known[i].code()
			value := c.b
			c.b = outer
			c.putTag(known[i].number, value)
		}
	}
	for _, t := range rest {
		c.putTag(t.Number, t.Value)
	}
}

func (c *coder) putTag(number uint32, value []byte) {
	c.putUvarint(uint64(number))
	c.putUvarint(uint64(len(value)))
	c.b = append(c.b, value...)
}

func (c *coder) readTags(extra *[]Tag, known []tag) {
	last := int64(-1)
	for n := c.uvarint(); n > 0 && c.err == nil; n-- {
		number := uint32(c.uvarint())
		value := c.take(c.uvarint())
		if int64(number) <= last {
			c.fail("tags out of order")
		}
		if c.err != nil {
			return
		}
		last = int64(number)
		i := 0
		for i < len(known) && known[i].number != number {
			i++
		}
		if i == len(known) {
			*extra = append(*extra, Tag{Number: number, Value: value})
			continue
		}
		outer := c.b
		c.b = value
		known[i].code()
		if c.err == nil && len(c.b) > 0 {
			c.fail("tagged field longer than its value")
		}
		if c.err == nil {
			c.b = outer
		}
	}
}
