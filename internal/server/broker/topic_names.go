package broker

import (
	"github.com/kalda/kalda/internal/core/meta"
)

// The topics that coordinators keep their state in.
const (
	offsetsTopic      = "__consumer_offsets"
	transactionsTopic = "__transaction_state"
	shareTopic        = "__share_group_state"
)

// isInternal tells whether a topic belongs to a coordinator.
func isInternal(topic string) bool {
	return topic == offsetsTopic || topic == transactionsTopic || topic == shareTopic
}

// badName says what is wrong with a topic's name, "" if nothing is. The texts are Apache's.
func badName(name string) string {
	switch {
	case name == "":
		return "Topic name is invalid: the empty string is not allowed"
	case name == "." || name == "..":
		return "Topic name is invalid: '" + name + "' is not allowed"
	case len(name) > 249:
		return "Topic name is invalid: the length of '" + name + "' is longer than the max allowed length 249"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return "Topic name is invalid: '" + name +
				"' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
		}
	}
	return ""
}

var noID meta.UUID
