package broker

import "github.com/kalda/kalda/internal/wire"

// groupAPIs are the rows of the group coordinator.
func (b *Broker) groupAPIs() []wire.API { return nil }
