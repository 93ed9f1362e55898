package telemetry

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultInterval is how often clients push, and how often those that have nothing to push ask again.
const DefaultInterval = 5 * time.Minute

// All is the one prefix that stands for every metric.
const All = "*"

// Client is what is known about a client.
type Client struct {
	Instance               [16]byte
	ID                     string // client.id
	Software, SoftwareVers string
	Address                string
	Port                   uint16
}

// Subscription is one configuration of kind CLIENT_METRICS.
type Subscription struct {
	Name     string
	Metrics  []string // prefixes of names
	Interval time.Duration
	match    map[string]*regexp.Regexp
}

// NewSubscription makes a Subscription of what is configured. What isn't valid counts as not set: the
// controller accepts no such value.
func NewSubscription(name string, values map[string]string) *Subscription {
	s := &Subscription{Name: name, Interval: DefaultInterval, match: map[string]*regexp.Regexp{}}
	if ms, err := strconv.Atoi(values["interval.ms"]); err == nil && ms > 0 {
		s.Interval = time.Duration(ms) * time.Millisecond
	}
	s.Metrics = split(values["metrics"])
	for _, m := range split(values["match"]) {
		selector, pattern, _ := strings.Cut(m, "=")
		if re, err := regexp.Compile("^(?:" + strings.TrimSpace(pattern) + ")$"); err == nil {
			s.match[strings.TrimSpace(selector)] = re
		}
	}
	return s
}

func split(list string) (out []string) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// Matches tells whether a client is one of those that the subscription is for: all its patterns fit.
func (s *Subscription) Matches(c *Client) bool {
	for selector, re := range s.match {
		if !re.MatchString(c.selected(selector)) {
			return false
		}
	}
	return true
}

func (c *Client) selected(selector string) string {
	switch selector {
	case "client_instance_id":
		return hex.EncodeToString(c.Instance[:])
	case "client_id":
		return c.ID
	case "client_software_name":
		return c.Software
	case "client_software_version":
		return c.SoftwareVers
	case "client_source_address":
		return c.Address
	case "client_source_port":
		return strconv.Itoa(int(c.Port))
	}
	return ""
}

// Set is all subscriptions that are configured. Another set has another generation.
type Set struct {
	Subscriptions []*Subscription
	Generation    uint64
}

// Plan is what one client is told.
type Plan struct {
	ID       int32
	Metrics  []string // sorted prefixes; just All for everything; empty for nothing
	Interval time.Duration
}

// Plan puts the subscriptions that match a client together: all their metrics, as often as the most eager
// wants.
func (s *Set) Plan(c *Client) Plan {
	p := Plan{Interval: DefaultInterval}
	found := false
	for _, sub := range s.Subscriptions {
		if len(sub.Metrics) == 0 || !sub.Matches(c) {
			continue
		}
		if !found || sub.Interval < p.Interval {
			p.Interval = sub.Interval
		}
		found = true
		p.Metrics = append(p.Metrics, sub.Metrics...)
	}
	if slices.Contains(p.Metrics, All) {
		p.Metrics = []string{All}
	}
	slices.Sort(p.Metrics)
	p.Metrics = slices.Compact(p.Metrics)
	p.ID = p.id(c)
	return p
}

// id changes with the plan: a client whose plan is no longer the one it was told asks anew.
func (p *Plan) id(c *Client) int32 {
	b := append([]byte(nil), c.Instance[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Interval))
	for _, m := range p.Metrics {
		b = append(append(b, m...), 0)
	}
	return int32(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
