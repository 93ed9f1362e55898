package broker

import "github.com/kalda/kalda/internal/wire"

// adminAPIs are the rows about the cluster, topics and configs.
func (b *Broker) adminAPIs() []wire.API { return nil }
