package broker

import "github.com/kalda/kalda/internal/wire"

// Table is every API of a broker listener. A row is there only when it does all that its versions promise.
func (b *Broker) Table() *wire.Table {
	apis := b.dataAPIs()
	apis = append(apis, b.adminAPIs()...)
	apis = append(apis, b.groupAPIs()...)
	apis = append(apis, b.txnAPIs()...)
	apis = append(apis, b.telemetryAPIs()...)
	return wire.NewTable(apis...)
}
