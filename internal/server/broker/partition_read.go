package broker

import (
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
)

// ReadLocal appends whole batches from the one that holds from to dst, about max bytes of them, at least one
// if there is one.
func (p *Partition) ReadLocal(from batch.Offset, max int, dst []byte) ([]byte, error) {
	if p.log == nil {
		return dst, errOffline
	}
	s, err := p.log.Read(from, p.log.EndOffset(), max, true)
	if err != nil {
		return dst, err
	}
	defer s.Release()
	at := len(dst)
	if dst, err = s.AppendTo(dst); err != nil {
		return dst, err
	}
	rest := dst[at:]
	for len(rest) > 0 {
		_, next, err := batch.Next(rest)
		if err != nil {
			break // cut off by max
		}
		rest = next
	}
	return slices.Delete(dst, len(dst)-len(rest), len(dst)), nil
}
