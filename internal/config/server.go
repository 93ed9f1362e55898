package config

// Security protocols, with the wire's numbers.
const (
	Plaintext     int16 = 0
	SSL           int16 = 1
	SASLPlaintext int16 = 2
	SASLSSL       int16 = 3
)

// Listener is one endpoint to bind or to advertise.
type Listener struct {
	Name     string // upper case
	Host     string // empty: all interfaces
	Port     int
	Protocol int16
}

// Voter is one entry of controller.quorum.voters.
type Voter struct {
	ID   int32
	Host string
	Port int
}

// HostPort is an address of controller.quorum.bootstrap.servers.
type HostPort struct {
	Host string
	Port int
}

// Server is one node's static configuration. It is immutable.
type Server struct {
	Path       string // of the file; empty for Embedded
	NodeID     int32
	Broker     bool // process.roles holds broker
	Controller bool // process.roles holds controller

	Listeners               []Listener // what this node binds, controllers' listeners included
	Advertised              []Listener // what the broker tells clients; empty when nothing is set: clients get what they dialled
	ControllerListenerNames []string
	InterBrokerListener     string
	Voters                  []Voter
	BootstrapServers        []HostPort

	LogDirs        []string
	MetadataLogDir string
	HTTPListener   string // host:port of metrics and health; empty is off

	values map[string]string
}
