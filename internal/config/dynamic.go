package config

// Dynamic is what the metadata log holds for this broker.
type Dynamic struct {
	Broker  map[string]string // of this broker
	Default map[string]string // of all brokers
}
