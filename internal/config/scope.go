package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Scope reads typed values: of a whole node, of one of its listeners, or with the dynamic values laid over
// them. The getters look a row of the table up on every call and panic when it does not exist or has
// another type, which is a mistake of the caller; keep what is needed often.
type Scope struct {
	values map[string]string
	prefix string // listener.name.x. or empty
}

// raw returns what is set, or the default; ok is false for null.
func (s Scope) raw(k *Key, name string) (value string, ok bool) {
	if s.prefix != "" {
		if v, ok := s.values[s.prefix+name]; ok {
			return v, true
		}
	}
	if v, ok := s.values[name]; ok {
		return v, true
	}
	if k.Default == Null || k.Default == Required {
		return "", false
	}
	return k.Default, true
}

func (s Scope) get(name string, types ...Type) (string, bool) {
	k := plainKey(name)
	if k == nil {
		panic("config: no key " + name)
	}
	if slices.Contains(types, k.Type) {
		return s.raw(k, name)
	}
	panic(fmt.Sprintf("config: %s is a %s", name, typeName(k.Type)))
}

// IsSet reports whether a value is set, by a file, an override or at run time.
func (s Scope) IsSet(key string) bool {
	if _, ok := s.values[s.prefix+key]; ok {
		return true
	}
	_, ok := s.values[key]
	return ok
}

// Int returns the value of an int or a short; 0 for null.
func (s Scope) Int(key string) int {
	v, _ := s.get(key, Int, Short)
	n, _ := parseInt(Int, v)
	return int(n)
}

// Int64 returns the value of a long, an int or a short; 0 for null.
func (s Scope) Int64(key string) int64 {
	v, _ := s.get(key, Long, Int, Short)
	n, _ := parseInt(Long, v)
	return n
}

// Float returns the value of a double.
func (s Scope) Float(key string) float64 {
	v, _ := s.get(key, Double)
	f, _ := parseFloat(v)
	return f
}

// Bool returns the value of a boolean.
func (s Scope) Bool(key string) bool {
	v, _ := s.get(key, Boolean)
	b, _ := parseBool(v)
	return b
}

// String returns the value of a string, a class or a password; "" for null.
func (s Scope) String(key string) string {
	v, _ := s.get(key, Str, Class, Password)
	return strings.TrimSpace(v)
}

// List returns the elements of a list; nil for null.
func (s Scope) List(key string) []string {
	v, _ := s.get(key, List)
	return parseList(v)
}

// OnListener is the scope of one listener: its listener.name.<name>. values first.
func (s Scope) OnListener(name string) Scope {
	return Scope{s.values, "listener.name." + strings.ToLower(name) + "."}
}

// With is the scope with this broker's dynamic values laid over it. Keys that can't change at run time are
// left out.
func (s Scope) With(dyn Dynamic) Scope {
	if len(dyn.Broker) == 0 && len(dyn.Default) == 0 {
		return s
	}
	values := maps.Clone(s.values)
	for _, layer := range []map[string]string{dyn.Default, dyn.Broker} {
		for name, v := range layer {
			if k := BrokerKey(name); k != nil && k.Mode != ReadOnly && k.check(v) == nil {
				values[name] = v
			}
		}
	}
	return Scope{values, s.prefix}
}

// Keys are the names of all keys that are set, in order.
func (s Scope) Keys() []string { return slices.Sorted(maps.Keys(s.values)) }

// Plain is the text of what is set, and whether it is. A password's is hidden.
func (s Scope) Plain(key string) (value string, set bool) {
	value, set = s.values[key]
	if k := BrokerKey(key); set && (k == nil || k.Type == Password) {
		value = "[hidden]"
	}
	return value, set
}
