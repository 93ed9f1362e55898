package broker

import (
	"log/slog"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

// change is what a request asks to alter on one resource, and what becomes of it.
type change struct {
	kind kmsg.ConfigResourceType
	name string
	keys []keyChange

	done bool // settled here, or answered by the controller
	code kerr.Code
	text *string
}

type keyChange struct {
	name  string
	op    kmsg.IncrementalAlterConfigOp
	value *string
}

func (c *change) refuse(code kerr.Code, text string) {
	if !c.done {
		c.done, c.code, c.text = true, code, &text
	}
}

// outcome is what the client is told. A change that nobody answered for was lost on the way to the
// controller.
func (c *change) outcome() (int16, *string) {
	if !c.done {
		text := "The controller did not answer."
		return int16(kerr.RequestTimedOut), &text
	}
	return int16(c.code), c.text
}

// settle gives the controller's answer to the change it is for.
func settle(changes []change, kind kmsg.ConfigResourceType, name string, code int16, text *string) {
	for i := range changes {
		if c := &changes[i]; c.kind == kind && c.name == name && !c.done {
			c.done, c.code, c.text = true, kerr.Code(code), text
			return
		}
	}
}

// judge settles the changes that need no controller: malformed ones, those of another broker, and levels of
// loggers.
func (b *Broker) judge(changes []change, validateOnly bool) {
	type resource struct {
		kind kmsg.ConfigResourceType
		name string
	}
	count := make(map[resource]int, len(changes))
	for i := range changes {
		count[resource{changes[i].kind, changes[i].name}]++
	}
	for i := range changes {
		c := &changes[i]
		if count[resource{c.kind, c.name}] > 1 {
			c.refuse(kerr.InvalidRequest, "Each resource must appear at most once.")
			continue
		}
		if code, text := c.malformed(); code != kerr.None {
			c.refuse(code, text)
			continue
		}
		switch c.kind {
		case kmsg.ConfigResourceTypeBrokerLogger:
			b.alterLoggers(c, validateOnly)
		case kmsg.ConfigResourceTypeBroker:
			b.judgeBroker(c)
		case kmsg.ConfigResourceTypeTopic:
			if c.name == "" {
				c.refuse(kerr.InvalidRequest, "Default topic resources are not allowed.")
			} else if text := badName(c.name); text != "" {
				c.refuse(kerr.InvalidTopicException, text)
			}
		}
	}
}

// malformed checks what needs no knowledge of the keys.
func (c *change) malformed() (kerr.Code, string) {
	names := make(map[string]struct{}, len(c.keys))
	var null []string
	for _, k := range c.keys {
		if _, twice := names[k.name]; twice {
			return kerr.InvalidRequest, "Error due to duplicate config keys"
		}
		names[k.name] = struct{}{}
		if k.value == nil && k.op != kmsg.IncrementalAlterConfigOpDelete {
			null = append(null, k.name)
		}
		if k.op < 0 || k.op > 3 {
			return kerr.InvalidRequest, "Unknown operation type " + strconv.Itoa(int(k.op)) + " of key " + k.name
		}
	}
	if len(null) > 0 {
		return kerr.InvalidRequest, "Null value not supported for : " + strings.Join(null, ", ")
	}
	return kerr.None, ""
}

func (b *Broker) judgeBroker(c *change) {
	if c.name == "" {
		return
	}
	if text := b.otherNode(c.name); text != "" {
		c.refuse(kerr.InvalidRequest, text)
	}
}

// otherNode says what is wrong with an altered node's id, "" if it is this one's.
func (b *Broker) otherNode(name string) string {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return "Node id must be an integer, but it is: " + name
	}
	if meta.NodeID(id) != b.cfg.NodeID {
		return "Unexpected broker id, expected " + strconv.Itoa(int(b.cfg.NodeID)) + ", but received " + name
	}
	return ""
}

// alterLoggers changes levels of loggers of this broker: all of a resource's, or none.
func (b *Broker) alterLoggers(c *change, validateOnly bool) {
	if text := b.otherNode(c.name); text != "" {
		c.refuse(kerr.InvalidRequest, text)
		return
	}
	root := slog.LevelInfo
	known := map[string]slog.Level{}
	if b.cfg.Logs != nil {
		known = b.cfg.Logs.Levels()
		root = known["root"]
	}
	levels := make(map[string]slog.Level, len(c.keys))
	for _, k := range c.keys {
		_, exists := known[k.name]
		switch k.op {
		case kmsg.IncrementalAlterConfigOpSet:
			level, ok := levelOf(*k.value)
			switch {
			case !exists:
				c.refuse(kerr.InvalidConfig, "Logger "+k.name+" does not exist!")
			case !ok:
				c.refuse(kerr.InvalidConfig, "Cannot set the log level of "+k.name+" to "+*k.value+" as it is not a "+
					"supported log level. Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN")
			}
			levels[k.name] = level
		case kmsg.IncrementalAlterConfigOpDelete:
			if k.name == "root" {
				c.refuse(kerr.InvalidRequest, "Removing the log level of the root logger is not allowed")
			} else if !exists {
				c.refuse(kerr.InvalidConfig, "Logger "+k.name+" does not exist!")
			}
			levels[k.name] = root
		default:
			op := map[kmsg.IncrementalAlterConfigOp]string{2: "APPEND", 3: "SUBTRACT"}[k.op]
			c.refuse(kerr.InvalidRequest, op+" operation is not allowed for the BROKER_LOGGER resource")
		}
	}
	if c.done {
		return
	}
	if !validateOnly {
		for name, level := range levels {
			b.cfg.Logs.SetLevel(name, level)
		}
	}
	c.done = true
}

func levelOf(name string) (slog.Level, bool) {
	for _, n := range levelNames {
		if n.name == name {
			return n.level, true
		}
	}
	return 0, false
}
