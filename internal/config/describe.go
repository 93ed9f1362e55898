package config

import "slices"

// Entry is one effective value as DescribeConfigs shows it.
type Entry struct {
	Key      *Key    // Type 0: a key that the table does not know
	Value    *string // nil: null, or not to be shown
	Source   Source
	ReadOnly bool
	Synonyms []Origin // by precedence, the one in force first
}

// Origin is one of the places where a value is set.
type Origin struct {
	Name   string
	Value  *string
	Source Source
}

// Sensitive reports whether values of the key are kept secret: passwords, and whatever is not known.
func (k *Key) Sensitive() bool { return k.Type == Password || k.Type == 0 }

// visible is a value as it may be shown.
func (k *Key) visible(value string) *string {
	if k.Sensitive() || value == Null || value == Required {
		return nil
	}
	value = k.canonical(value)
	return &value
}

// families are broker keys of which the first that is set wins.
var families = [...][]string{
	{"log.roll.ms", "log.roll.hours"},
	{"log.roll.jitter.ms", "log.roll.jitter.hours"},
	{"log.flush.interval.ms", "log.flush.scheduler.interval.ms"},
	{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
}

// brokerSynonyms are the names that can give a broker key its value, by precedence.
func brokerSynonyms(name string) []string {
	if name != "log.flush.scheduler.interval.ms" { // gives a default, takes none
		for _, f := range families {
			if slices.Contains(f, name) {
				return f
			}
		}
	}
	if _, rest := cutListener(name); rest != "" {
		return []string{name, rest}
	}
	return []string{name}
}

// origins lists where a broker key is set. Places before the first of the key's own name are left out, as
// Apache's broker does: a base key does not show its overrides.
func (s *Server) origins(name string, dyn Dynamic) []Origin {
	var list []Origin
	for _, layer := range []struct {
		values map[string]string
		source Source
	}{
		{dyn.Broker, SourceDynamicBroker},
		{dyn.Default, SourceDynamicDefault},
		{s.values, SourceStatic},
		{nil, SourceDefault},
	} {
		for _, syn := range brokerSynonyms(name) {
			k := keyOrUnknown(syn)
			v, ok := layer.values[syn]
			if layer.source == SourceDefault {
				if p := plainKey(syn); p != nil && p.Default != Null && p.Default != Required && p.Mode != DynamicOnly {
					v, ok = p.Default, true
				}
			}
			if ok {
				list = append(list, Origin{syn, k.visible(v), layer.source})
			}
		}
	}
	for i := range list {
		if list[i].Name == name {
			return list[i:]
		}
	}
	return nil
}

func keyOrUnknown(name string) *Key {
	if k := BrokerKey(name); k != nil {
		return k
	}
	return &Key{Name: name}
}

// DescribeBroker returns the effective values of this broker: of every key of the table that is not
// internal, and of all that is set.
func (s *Server) DescribeBroker(dyn Dynamic) []Entry {
	scope := s.With(dyn)
	var list []Entry
	for _, t := range brokerTables {
		for i := range *t {
			k := &(*t)[i]
			hidden := k.Internal || k.Mode == DynamicOnly || t == &authorizerKeys
			if !hidden || scope.IsSet(k.Name) {
				list = append(list, s.brokerEntry(scope, k.Name, dyn))
			}
		}
	}
	extra := map[string]bool{}
	for _, layer := range []map[string]string{s.values, dyn.Default, dyn.Broker} {
		for name := range layer {
			if plainKey(name) == nil && !extra[name] {
				extra[name] = true
				list = append(list, s.brokerEntry(scope, name, dyn))
			}
		}
	}
	return list
}

func (s *Server) brokerEntry(scope Scope, name string, dyn Dynamic) Entry {
	k := keyOrUnknown(name)
	plain := plainKey(name)
	e := Entry{Key: k, Source: SourceDefault, Synonyms: s.origins(name, dyn)}
	if plain == nil && k.Type != 0 {
		renamed := *k // a listener's own value
		renamed.Name, renamed.Doc = name, ""
		e.Key = &renamed
	}
	e.ReadOnly = plain == nil || plain.Mode == ReadOnly
	switch v, ok := scope.raw(k, name); {
	case plain == nil && len(e.Synonyms) > 0:
		e.Value = e.Synonyms[0].Value
	case ok:
		e.Value = k.visible(v)
	}
	if len(e.Synonyms) > 0 {
		e.Source = e.Synonyms[0].Source
	}
	return e
}

// DescribeDefaultBroker returns the cluster-wide dynamic values.
func (s *Server) DescribeDefaultBroker(dyn Dynamic) []Entry {
	list := make([]Entry, 0, len(dyn.Default))
	for name, v := range dyn.Default {
		k := keyOrUnknown(name)
		shown := k.visible(v)
		list = append(list, Entry{
			Key: k, Value: shown, Source: SourceDynamicDefault,
			ReadOnly: k.Type == 0 || k.Mode == ReadOnly,
			Synonyms: []Origin{{name, shown, SourceDynamicDefault}},
		})
	}
	return list
}

// DescribeTopic returns the effective values of a topic.
func (s *Server) DescribeTopic(overrides map[string]string, dyn Dynamic) []Entry {
	return s.describe(topicKeys, overrides, dyn, SourceTopic)
}

// DescribeGroup returns the effective values of a group.
func (s *Server) DescribeGroup(overrides map[string]string, dyn Dynamic) []Entry {
	return s.describe(groupKeys, overrides, dyn, SourceGroup)
}

// DescribeClientMetrics returns the effective values of a client metrics subscription.
func (s *Server) DescribeClientMetrics(overrides map[string]string) []Entry {
	return s.describe(clientMetricsKeys, overrides, Dynamic{}, SourceClientMetrics)
}

func (s *Server) describe(table []Key, overrides map[string]string, dyn Dynamic, source Source) []Entry {
	v := &values{table, overrides, s, s.With(dyn)}
	list := make([]Entry, 0, len(table))
	for i := range table {
		k := &table[i]
		own, set := overrides[k.Name]
		if k.Internal && !set {
			continue
		}
		e := Entry{Key: k, Value: k.visible(v.raw(k.Name)), Source: SourceDefault}
		if set {
			e.Synonyms = append(e.Synonyms, Origin{k.Name, k.visible(own), source})
		}
		if len(k.Synonyms) > 0 {
			first := k.Synonyms[0].Name
			if plainKey(first) != nil {
				e.Synonyms = append(e.Synonyms, s.origins(first, dyn)...)
			} else if k.Default != Null {
				e.Synonyms = append(e.Synonyms, Origin{k.Name, k.visible(k.Default), SourceDefault})
			}
		}
		if len(e.Synonyms) > 0 {
			e.Source = e.Synonyms[0].Source
		}
		list = append(list, e)
	}
	return list
}
