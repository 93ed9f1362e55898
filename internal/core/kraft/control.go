package kraft

import (
	"errors"
	"fmt"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// Split cuts a run of raw batches up, checks their checksums and decodes their control records. It returns
// the whole good batches in front; err tells what is wrong with the rest. A batch that the bytes end in isn't
// an error: a fetch is cut anywhere by some servers.
func Split(raw []byte) (batches []Batch, err error) {
	for len(raw) > 0 {
		v, rest, err := batch.Next(raw)
		if errors.Is(err, batch.ErrShort) {
			return batches, nil
		}
		if err != nil {
			return batches, err
		}
		b, err := parse(v)
		if err != nil {
			return batches, err
		}
		batches = append(batches, b)
		raw = rest
	}
	return batches, nil
}

func parse(v batch.View) (Batch, error) {
	b := Batch{Base: v.BaseOffset(), Last: v.LastOffset(), Epoch: v.LeaderEpoch(), Data: v}
	if v.Magic() != 2 || v.CRC() != v.Checksum() || v.LastOffsetDelta() < 0 {
		return b, fmt.Errorf("%w: at offset %d: magic %d, checksum %#x, computed %#x", batch.ErrCorrupt, b.Base,
			v.Magic(), v.CRC(), v.Checksum())
	}
	if !v.Control() {
		return b, nil
	}
	var err error
	b.Control, err = Controls(v)
	return b, err
}

// Controls decodes the voter sets and kraft.versions of a control batch.
func Controls(v batch.View) (out []Control, err error) {
	r, err := v.Records(nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var rec batch.Record
	for r.Next(&rec) {
		c := Control{Offset: v.BaseOffset() + Offset(rec.OffsetDelta), Version: -1}
		t, err := record.DecodeControlKey(rec.Key)
		if err != nil {
			return nil, err
		}
		switch t {
		case record.ControlKRaftVersion:
			c.Version, err = record.DecodeKRaftVersion(rec.Value)
		case record.ControlKRaftVoters:
			c.Voters, err = record.DecodeKRaftVoters(rec.Value)
			if c.Voters == nil {
				c.Voters = []Voter{}
			}
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, r.Err()
}
