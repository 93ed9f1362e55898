package config

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Refusal is an altered configuration that can't be accepted, with the error code and the text of the answer.
type Refusal struct {
	Code    int16
	Message string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// ErrorCode is the code, for those who only know that an error may have one.
func (r *Refusal) ErrorCode() int16 { return r.Code }

// The error codes of refusals.
const (
	invalidConfig  int16 = 40
	invalidRequest int16 = 42
)

// Validate checks the configuration that a resource is about to get, as a whole. before is what it has now:
// values that do not change are not judged again, so that what another release wrote does not block every
// change.
func (s *Server) Validate(r Resource, name string, before, after map[string]string) *Refusal {
	if f := checkName(r, name); f != nil {
		return f
	}
	changed := make([]string, 0, len(after))
	for k, v := range after {
		if old, ok := before[k]; !ok || old != v {
			changed = append(changed, k)
		}
	}
	sort.Strings(changed)
	switch r {
	case ResourceTopic:
		return s.validateTopic(changed, after)
	case ResourceBroker:
		return s.validateBroker(name, changed, before, after)
	case ResourceGroup:
		return s.validateGroup(changed, after)
	case ResourceClientMetrics:
		return validateClientMetrics(changed, after)
	}
	return &Refusal{invalidRequest, fmt.Sprintf("Unexpected resource type %d", r)}
}

func checkName(r Resource, name string) *Refusal {
	switch {
	case r == ResourceTopic && name == "":
		return &Refusal{invalidRequest, "Default topic resources are not allowed."}
	case r == ResourceGroup && name == "":
		return &Refusal{invalidRequest, "Default group resources are not allowed."}
	case r == ResourceClientMetrics && name == "":
		return &Refusal{invalidRequest, "Subscription name can't be empty"}
	case r == ResourceBroker && name != "":
		if _, err := strconv.ParseInt(name, 10, 32); err != nil {
			return &Refusal{invalidRequest, "Node id must be an integer, but it is: " + name}
		}
	}
	return nil
}

func (s *Server) validateTopic(changed []string, after map[string]string) *Refusal {
	for _, name := range changed {
		k := TopicKey(name)
		if k == nil {
			return &Refusal{invalidConfig, "Unknown topic config name: " + name}
		}
		if err := k.check(after[name]); err != nil {
			return &Refusal{invalidConfig, err.Error()}
		}
	}
	v := &values{topicKeys, after, s, s.Scope}
	if lo, hi := v.int64("min.compaction.lag.ms"), v.int64("max.compaction.lag.ms"); lo > hi {
		return &Refusal{invalidConfig, fmt.Sprintf(
			"conflict topic config setting min.compaction.lag.ms (%d) > max.compaction.lag.ms (%d)", lo, hi)}
	}
	if v.bool("remote.storage.enable") {
		return &Refusal{invalidConfig, "Tiered Storage functionality is disabled in the broker. " +
			"Topic cannot be configured with remote log storage."}
	}
	return nil
}

func (s *Server) validateBroker(name string, changed []string, before, after map[string]string) *Refusal {
	var fixed, perBroker, unscoped, notYet []string
	for _, key := range changed {
		k := BrokerKey(key)
		if k == nil {
			continue // custom keys are kept for whoever reads them
		}
		_, rest := cutListener(key)
		switch {
		case k.Mode == ReadOnly && rest == "":
			fixed = append(fixed, key)
		case rest == "" && perListenerOnly(k):
			unscoped = append(unscoped, key)
		case name == "" && k.Mode == PerBroker:
			perBroker = append(perBroker, key)
		case key == "listeners" || key == "listener.security.protocol.map":
			notYet = append(notYet, key)
		}
	}
	for _, f := range []struct {
		keys []string
		text string
	}{
		{fixed, "Cannot update these configs dynamically"},
		{unscoped, "These security configs can be dynamically updated only per-listener using the listener prefix"},
		{perBroker, "Cannot update these configs at default cluster level, broker id must be specified"},
		{notYet, "This release cannot change these configs while the broker runs"},
	} {
		if len(f.keys) > 0 {
			return &Refusal{invalidRequest, f.text + ": [" + strings.Join(f.keys, ", ") + "]"}
		}
	}
	for _, key := range changed {
		k := BrokerKey(key)
		if k == nil {
			continue
		}
		if err := k.check(after[key]); err != nil {
			return &Refusal{invalidRequest, err.Error()}
		}
		if k.Name == "max.connections.per.ip.overrides" {
			if _, err := ParseIPOverrides(after[key]); err != nil {
				return &Refusal{invalidRequest, err.Error()}
			}
		}
	}
	return s.validateBrokerWhole(after)
}

// perListenerOnly reports whether a key of TLS stores can only change under a listener's prefix.
func perListenerOnly(k *Key) bool {
	return strings.HasPrefix(k.Name, "ssl.keystore.") || strings.HasPrefix(k.Name, "ssl.truststore.") ||
		k.Name == "ssl.key.password"
}

func (s *Server) validateBrokerWhole(after map[string]string) *Refusal {
	scope := s.With(Dynamic{Broker: after})
	lo, hi := scope.Int64("log.cleaner.min.compaction.lag.ms"), scope.Int64("log.cleaner.max.compaction.lag.ms")
	if lo > hi {
		return &Refusal{invalidRequest, fmt.Sprintf(
			"conflict config setting log.cleaner.min.compaction.lag.ms (%d) > log.cleaner.max.compaction.lag.ms "+
				"(%d)", lo, hi)}
	}
	if n := scope.Int64("log.retention.ms"); scope.IsSet("log.retention.ms") && n == 0 {
		return &Refusal{invalidRequest, "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"}
	}
	return nil
}

func (s *Server) validateGroup(changed []string, after map[string]string) *Refusal {
	for _, name := range changed {
		k := GroupKey(name)
		if k == nil {
			return &Refusal{invalidConfig, "Unknown group config name: " + name}
		}
		if err := k.check(after[name]); err != nil {
			return &Refusal{invalidConfig, err.Error()}
		}
		if f := s.groupBounds(k, after[name]); f != nil {
			return f
		}
	}
	v := &values{groupKeys, after, s, s.Scope}
	for _, protocol := range []string{"consumer", "share", "streams"} {
		session, beat := protocol+".session.timeout.ms", protocol+".heartbeat.interval.ms"
		if v.int64(session) <= v.int64(beat) {
			return &Refusal{invalidConfig, session + " must be greater than " + beat}
		}
	}
	return nil
}

// groupBounds holds a group's value against the broker's group.<protocol>.min. and .max. keys.
func (s *Server) groupBounds(k *Key, value string) *Refusal {
	protocol, rest, _ := strings.Cut(k.Name, ".")
	if k.Type != Int && k.Type != Long {
		return nil
	}
	n, _ := parseInt(k.Type, value)
	if protocol == "streams" && (rest == "num.standby.replicas" || rest == "num.warmup.replicas") {
		hi := s.Int64("group.streams.max." + strings.TrimPrefix(rest, "num."))
		if n > hi {
			return &Refusal{invalidConfig, fmt.Sprintf("%s must be less than or equal to %d", k.Name, hi)}
		}
		return nil
	}
	lo, hi := "group."+protocol+".min."+rest, "group."+protocol+".max."+rest
	if plainKey(lo) == nil || plainKey(hi) == nil {
		return nil
	}
	if least, most := s.Int64(lo), s.Int64(hi); n < least || n > most {
		return &Refusal{invalidConfig, fmt.Sprintf("%s must be in the range %d to %d "+
			"inclusive.", k.Name, least, most)}
	}
	return nil
}

func validateClientMetrics(changed []string, after map[string]string) *Refusal {
	for _, name := range changed {
		k := ClientMetricsKey(name)
		if k == nil {
			return &Refusal{invalidRequest, "Unknown client metrics configuration: " + name}
		}
		if err := k.check(after[name]); err != nil {
			return &Refusal{invalidConfig, err.Error()}
		}
		switch name {
		case "interval.ms":
			if n, _ := parseInt(Int, after[name]); n < 100 || n > 3600000 {
				return &Refusal{invalidRequest, fmt.Sprintf(
					"Invalid value %d for interval.ms, interval must be between 100 and 3600000 (1 hour)", n)}
			}
		case "match":
			for _, m := range parseList(after[name]) {
				if !isClientMatch(m) {
					return &Refusal{invalidConfig, "Illegal client matching pattern: " + m}
				}
			}
		}
	}
	return nil
}
