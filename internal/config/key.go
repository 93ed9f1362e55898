package config

// Type is a key's type, with the numbers that DescribeConfigs uses.
type Type int8

// The types of values.
const (
	Boolean  Type = 1
	Str      Type = 2
	Int      Type = 3
	Short    Type = 4
	Long     Type = 5
	Double   Type = 6
	List     Type = 7
	Class    Type = 8
	Password Type = 9
)

// Mode is how a broker key may change.
type Mode int8

// The modes of change.
const (
	ReadOnly    Mode = iota // only by a restart
	PerBroker               // at run time, for one broker
	ClusterWide             // at run time, for one broker or for all
	DynamicOnly             // only at run time: has no place in server.properties
)

// Status is what a key does in this release.
type Status int8

// The states of a key.
const (
	Acts    Status = iota // does what Doc says
	Later                 // known and validated; setting it has no effect yet, which is warned about
	Nothing               // tunes what this implementation does not have; warned about when set
)

// Key is one row of the table.
type Key struct {
	Name     string
	Type     Type
	Default  string // Null and Required are not values
	Valid    string // see check.go for the notation
	Mode     Mode
	Status   Status
	Internal bool      // not shown by DescribeConfigs unless set
	Synonyms []Synonym // of a topic key: the broker keys it defaults to, by precedence
	Doc      string
}

// Markers that stand in Default for the absence of a value.
const (
	Null     = "\x00null"
	Required = "\x00required"
)

// Synonym is a broker key that gives a topic key its default. Factor converts its unit into the topic key's.
type Synonym struct {
	Name   string
	Factor int64
}
