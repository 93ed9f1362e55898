package zk

import (
	"errors"

	"github.com/kalda/kalda/internal/format/jute"
)

// ConnectionLoss is the outcome of a request whose answer was lost; only clients make it.
const ConnectionLoss jute.Code = -4

// Error is a request that failed.
type Error struct {
	Code jute.Code
	Path string // as the caller knows it; empty when the request names none
}

func (e *Error) Error() string {
	text := "KeeperErrorCode = " + codeText(e.Code)
	if e.Path != "" {
		text += " for " + e.Path
	}
	return text
}

// CodeOf is the code in err, or OK when there is none.
func CodeOf(err error) jute.Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return jute.OK
}

// codeText is a code in the words of Apache's exceptions.
func codeText(c jute.Code) string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return "Unknown error " + c.String()
}

var codeTexts = map[jute.Code]string{
	jute.OK:                           "ok",
	jute.SystemError:                  "SystemError",
	jute.RuntimeInconsistency:         "RuntimeInconsistency",
	jute.DataInconsistency:            "DataInconsistency",
	ConnectionLoss:                    "ConnectionLoss",
	jute.MarshallingError:             "MarshallingError",
	jute.Unimplemented:                "Unimplemented",
	jute.BadArguments:                 "BadArguments",
	jute.NewConfigNoQuorum:            "NewConfigNoQuorum",
	jute.ReconfigInProgress:           "ReconfigInProgress",
	jute.APIError:                     "APIError",
	jute.NoNode:                       "NoNode",
	jute.NoAuth:                       "NoAuth",
	jute.BadVersion:                   "BadVersion",
	jute.NoChildrenForEphemerals:      "NoChildrenForEphemerals",
	jute.NodeExists:                   "NodeExists",
	jute.NotEmpty:                     "Directory not empty",
	jute.SessionExpired:               "Session expired",
	jute.InvalidACL:                   "InvalidACL",
	jute.AuthFailed:                   "AuthFailed",
	jute.SessionMoved:                 "Session moved",
	jute.NotReadOnly:                  "Not a read-only call",
	jute.EphemeralOnLocalSession:      "Ephemeral node creation is not allowed on local session",
	jute.NoWatcher:                    "No such watcher",
	jute.ReconfigDisabled:             "Reconfig is disabled",
	jute.SessionClosedRequireSASLAuth: "Session closed because client failed to authenticate",
	jute.QuotaExceeded:                "Quota has exceeded",
	jute.ThrottledOp:                  "Op throttled due to high load",
}
