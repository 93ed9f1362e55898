package controller

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
)

// Refuse answers a whole request with one error, for a node that could not bring it to the active controller.
func Refuse(req kmsg.Request, code kerr.Code, message string) kmsg.Response {
	return failure(req, code, message)
}
