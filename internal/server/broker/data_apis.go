package broker

import (
	"math"

	"github.com/kalda/kalda/internal/wire"
)

// dataAPIs are the rows of the data path.
func (b *Broker) dataAPIs() []wire.API {
	zero := int16(0)
	return []wire.API{
		{Key: 0, Min: 3, Max: 13, AdvertiseMin: &zero, MaxBody: math.MaxInt, Reuse: true, Serve: b.serveProduce},
		{Key: 1, Min: 4, Max: 18, Reuse: true, Serve: b.serveFetch},
		{Key: 2, Min: 1, Max: 11, Serve: b.serveListOffsets},
		{Key: 21, Min: 0, Max: 2, Serve: b.serveDeleteRecords},
		{Key: 22, Min: 0, Max: 5, Serve: b.serveInitProducerID},
		{Key: 23, Min: 2, Max: 4, Serve: b.serveOffsetForLeaderEpoch},
	}
}
