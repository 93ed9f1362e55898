package config

import "errors"

// Warnings are remarks about a file that loads all the same, one line each.
type Warnings []string

// Load reads a server.properties file, replaces properties by the overrides ("key=value"), and checks the whole.
// An error names the file, the line, the key, the value and the reason.
func Load(path string, overrides []string) (*Server, Warnings, error) {
	return nil, nil, errors.New("config: not built yet")
}

// Embedded is the configuration of a node started without a file: broker and controller in one, clients on 9092,
// controller on 9093, data in dataDir, metrics and health on 8080.
func Embedded(dataDir string, overrides []string) (*Server, Warnings, error) {
	return nil, nil, errors.New("config: not built yet")
}

// Int returns a key's static value. The typed getters panic when the table has no such key or it has another type.
func (s *Server) Int(key string) int { return 0 }

// Int64 is Int for longs.
func (s *Server) Int64(key string) int64 { return 0 }

// Float is Int for doubles.
func (s *Server) Float(key string) float64 { return 0 }

// Bool is Int for booleans.
func (s *Server) Bool(key string) bool { return false }

// String is Int for strings, classes and passwords; null is empty.
func (s *Server) String(key string) string { return "" }

// List is Int for lists.
func (s *Server) List(key string) []string { return nil }

// Topic returns the effective configuration of a topic with these overrides.
func (s *Server) Topic(overrides map[string]string, dyn Dynamic) (TopicConfig, error) {
	return TopicConfig{}, errors.New("config: not built yet")
}
