package quota

// Kind is what a quota is on.
type Kind uint8

// The kinds of quotas.
const (
	Produce     Kind = iota // bytes a second of Produce requests
	Fetch                   // bytes a second of Fetch replies to consumers
	Request                 // percent of one thread's time
	Mutation                // partitions created and deleted a second
	Connections             // connections a second from one address
	kinds
)

// Keys are the configuration keys of the kinds, as clients name them.
var Keys = [kinds]string{
	Produce: "producer_byte_rate", Fetch: "consumer_byte_rate", Request: "request_percentage",
	Mutation: "controller_mutation_rate", Connections: "connection_creation_rate",
}

// Part is one part of whom a quota is for.
type Part struct {
	Type string  // user, client-id or ip
	Name *string // nil: the default entity
}

// The types of parts.
const (
	User     = "user"
	ClientID = "client-id"
	IP       = "ip"
)

// Who is one account: whose use is added up. The empty string is "whatever the user" (or client).
type Who struct{ User, Client string }

// entity is a key of a table; a level's default has the name "" and its bit set.
type entity struct {
	user, client       string
	hasUser, hasClient bool
	anyUser, anyClient bool
}

// Limits is a set of quotas. The zero value has none. Not to be changed once in use.
type Limits struct {
	table [kinds]map[entity]float64
	ips   map[string]float64
	anyIP *float64
}

// Set adds one quota; false: it isn't one (an unknown key or part).
func (l *Limits) Set(parts []Part, key string, value float64) bool {
	kind := kinds
	for k, name := range Keys {
		if name == key {
			kind = Kind(k)
		}
	}
	if kind == kinds || len(parts) == 0 {
		return false
	}
	if kind == Connections {
		return l.setIP(parts, value)
	}
	var e entity
	for _, p := range parts {
		switch p.Type {
		case User:
			e.hasUser, e.anyUser = true, p.Name == nil
			if p.Name != nil {
				e.user = *p.Name
			}
		case ClientID:
			e.hasClient, e.anyClient = true, p.Name == nil
			if p.Name != nil {
				e.client = *p.Name
			}
		default:
			return false
		}
	}
	if l.table[kind] == nil {
		l.table[kind] = map[entity]float64{}
	}
	l.table[kind][e] = value
	return true
}

func (l *Limits) setIP(parts []Part, value float64) bool {
	if len(parts) != 1 || parts[0].Type != IP {
		return false
	}
	if parts[0].Name == nil {
		l.anyIP = &value
		return true
	}
	if l.ips == nil {
		l.ips = map[string]float64{}
	}
	l.ips[*parts[0].Name] = value
	return true
}

// Any tells whether there is a quota of a kind at all.
func (l *Limits) Any(kind Kind) bool {
	if l == nil {
		return false
	}
	if kind == Connections {
		return l.anyIP != nil || len(l.ips) > 0
	}
	return len(l.table[kind]) > 0
}

// Find returns the quota that holds for a user and client id, and on whose account their use goes: the first
// that is set of user with client, user with any client, user, any user with client, any user with any
// client, any user, client, any client. ok is false when none is set.
func (l *Limits) Find(kind Kind, user, client string) (limit float64, who Who, ok bool) {
	if l == nil || len(l.table[kind]) == 0 {
		return 0, Who{}, false
	}
	both, onlyUser, onlyClient := Who{user, client}, Who{User: user}, Who{Client: client}
	levels := [...]struct {
		e   entity
		who Who
	}{
		{entity{user: user, client: client, hasUser: true, hasClient: true}, both},
		{entity{user: user, hasUser: true, hasClient: true, anyClient: true}, both},
		{entity{user: user, hasUser: true}, onlyUser},
		{entity{client: client, hasUser: true, hasClient: true, anyUser: true}, both},
		{entity{hasUser: true, hasClient: true, anyUser: true, anyClient: true}, both},
		{entity{hasUser: true, anyUser: true}, onlyUser},
		{entity{client: client, hasClient: true}, onlyClient},
		{entity{hasClient: true, anyClient: true}, onlyClient},
	}
	for i := range levels {
		if v, found := l.table[kind][levels[i].e]; found {
			return v, levels[i].who, true
		}
	}
	return 0, Who{}, false
}

// OfIP is the quota on new connections of an address.
func (l *Limits) OfIP(ip string) (limit float64, ok bool) {
	if l == nil {
		return 0, false
	}
	if v, found := l.ips[ip]; found {
		return v, true
	}
	if l.anyIP != nil {
		return *l.anyIP, true
	}
	return 0, false
}
