package zkcli

import (
	"errors"

	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/tool/zk"
)

// problem is a mistake that is told in these words.
type problem string

func (p problem) Error() string { return string(p) }

// errUsage is answered with the command's usage.
var errUsage = errors.New("usage")

// wrapped is a server's refusal in the words of Apache's shell.
func wrapped(err error) string {
	e, ok := errors.AsType[*zk.Error](err)
	if !ok {
		return err.Error()
	}
	path := e.Path
	if path == "" {
		path = "null"
	}
	switch e.Code {
	case jute.NoNode:
		return "Node does not exist: " + path
	case jute.NoChildrenForEphemerals:
		return "Ephemerals cannot have children: " + path
	case jute.NodeExists:
		return "Node already exists: " + path
	case jute.NotEmpty:
		return "Node not empty: " + path
	case jute.NotReadOnly:
		return "Not a read-only call: " + path
	case jute.InvalidACL:
		return "Acl is not valid : " + path
	case jute.NoAuth:
		return "Insufficient permission : " + path
	case jute.BadArguments:
		return "Arguments are not valid : " + path
	case jute.BadVersion:
		return "version No is not valid : " + path
	case jute.ReconfigInProgress:
		return "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)"
	case jute.NewConfigNoQuorum:
		return "No quorum of new config is connected and up-to-date with the leader of last commmitted config - " +
			"try invoking reconfiguration after new servers are connected and synced"
	case jute.QuotaExceeded:
		return "Quota has exceeded : " + path
	default:
		return err.Error()
	}
}
