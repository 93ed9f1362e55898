package broker

import "github.com/kalda/kalda/internal/wire"

// dataAPIs are the rows of the data path.
func (b *Broker) dataAPIs() []wire.API { return nil }
