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
	Host     string // empty: all interfaces, or what the client dialled
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
	Scope

	Path       string // of the file; empty for Embedded
	NodeID     int32
	Broker     bool // process.roles holds broker
	Controller bool // process.roles holds controller

	BrokerListeners         []Listener // to bind, for clients and brokers
	ControllerListeners     []Listener // to bind, for controllers
	ControllerListenerNames []string   // upper case; the first is the one to connect to
	InterBrokerListener     string     // upper case

	// Advertised is what a broker registers: advertised.listeners, or else BrokerListeners. An empty host
	// means that the operator named none: register the machine's name, and tell a client of a single node what
	// it dialled.
	Advertised            []Listener
	AdvertisedControllers []Listener // what a controller registers
	Protocols             []Protocol // listener.security.protocol.map

	Voters           []Voter
	BootstrapServers []HostPort

	LogDirs        []string // absolute, without duplicates
	MetadataLogDir string   // absolute
	HTTPListener   string   // host:port of metrics and health; empty is off
}

// Protocol is one entry of listener.security.protocol.map.
type Protocol struct {
	Listener string // upper case
	Protocol int16
}

// Registers reports whether the operator chose what clients are told on a listener; see Server.Advertised.
func (s *Server) Registers(listener string) bool {
	for _, a := range s.Advertised {
		if a.Name == listener {
			return a.Host != ""
		}
	}
	return false
}
