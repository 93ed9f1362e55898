package config

import (
	"regexp"
	"strings"
)

// isClientMatch checks one pattern of a client metrics subscription: selector=regular expression.
func isClientMatch(s string) bool {
	selector, pattern, ok := strings.Cut(s, "=")
	if !ok {
		return false
	}
	switch strings.TrimSpace(selector) {
	case "client_instance_id", "client_id", "client_software_name", "client_software_version",
		"client_source_address", "client_source_port":
		_, err := regexp.Compile(strings.TrimSpace(pattern))
		return err == nil
	}
	return false
}
