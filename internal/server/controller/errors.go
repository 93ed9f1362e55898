package controller

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

func (c *Controller) notController(req kmsg.Request) kmsg.Response {
	message := "No controller is available."
	if c.quorum != nil {
		if id, _ := c.quorum.Leader(); id >= 0 {
			message = fmt.Sprintf("The active controller appears to be node %d.", id)
		}
	}
	return Refuse(req, kerr.NotController, message)
}

// NotController says that a response tells that this node isn't the active controller: whoever forwarded
// the request should ask another one.
func NotController(resp kmsg.Response) bool {
	const code = int16(kerr.NotController)
	switch r := resp.(type) {
	case *kmsg.CreateTopicsResponse:
		return len(r.Topics) > 0 && r.Topics[0].ErrorCode == code
	case *kmsg.DeleteTopicsResponse:
		return len(r.Topics) > 0 && r.Topics[0].ErrorCode == code
	case *kmsg.CreatePartitionsResponse:
		return len(r.Topics) > 0 && r.Topics[0].ErrorCode == code
	case *kmsg.AlterConfigsResponse:
		return len(r.Resources) > 0 && r.Resources[0].ErrorCode == code
	case *kmsg.IncrementalAlterConfigsResponse:
		return len(r.Resources) > 0 && r.Resources[0].ErrorCode == code
	case *kmsg.AlterClientQuotasResponse:
		return len(r.Entries) > 0 && r.Entries[0].ErrorCode == code
	}
	p := errorCode(resp)
	return p != nil && *p == code
}

// errorCode is a response's top-level error code, nil if it has none.
func errorCode(resp kmsg.Response) *int16 {
	switch r := resp.(type) {
	case *kmsg.BrokerRegistrationResponse:
		return &r.ErrorCode
	case *kmsg.BrokerHeartbeatResponse:
		return &r.ErrorCode
	case *kmsg.AllocateProducerIDsResponse:
		return &r.ErrorCode
	case *kmsg.AlterPartitionResponse:
		return &r.ErrorCode
	case *kmsg.AssignReplicasToDirsResponse:
		return &r.ErrorCode
	case *kmsg.ElectLeadersResponse:
		return &r.ErrorCode
	case *kmsg.AlterPartitionAssignmentsResponse:
		return &r.ErrorCode
	case *kmsg.ListPartitionReassignmentsResponse:
		return &r.ErrorCode
	case *kmsg.UpdateFeaturesResponse:
		return &r.ErrorCode
	case *kmsg.ControllerRegistrationResponse:
		return &r.ErrorCode
	case *kmsg.UnregisterBrokerResponse:
		return &r.ErrorCode
	case *kmsg.UnregisterControllerResponse:
		return &r.ErrorCode
	}
	return nil
}

// Refuse answers a whole request with one error, on each of its items if the API has no other place for it.
// Also for a node that could not bring a request to the active controller.
func Refuse(req kmsg.Request, code kerr.Code, message string) kmsg.Response {
	f := meta.Failure{Code: code, Message: message}
	switch q := req.(type) {
	case *kmsg.CreateTopicsRequest:
		return failedTopics(q, f)
	case *kmsg.DeleteTopicsRequest:
		failed := meta.TopicResult{Failure: f}
		return deleteTopicsResponse(q, deletions(q), func(int) meta.TopicResult { return failed })
	case *kmsg.CreatePartitionsRequest:
		return createPartitionsResponse(q, func(int) meta.Failure { return f })
	case *kmsg.AlterConfigsRequest:
		return alterConfigsResponse(q, func(int) meta.Failure { return f })
	case *kmsg.IncrementalAlterConfigsRequest:
		return incrementalAlterConfigsResponse(q, func(int) meta.Failure { return f })
	case *kmsg.AlterClientQuotasRequest:
		return failedQuotas(q, f)
	case *kmsg.UpdateFeaturesRequest:
		return updateFeaturesResponse(q, f)
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if p := errorCode(resp); p != nil {
		*p = int16(code)
	}
	switch r := resp.(type) {
	case *kmsg.ControllerRegistrationResponse:
		r.ErrorMessage = text(message)
	case *kmsg.UnregisterBrokerResponse:
		r.ErrorMessage = text(message)
	case *kmsg.UnregisterControllerResponse:
		r.ErrorMessage = text(message)
	case *kmsg.AlterPartitionAssignmentsResponse:
		r.ErrorMessage = text(message)
	case *kmsg.ListPartitionReassignmentsResponse:
		r.ErrorMessage = text(message)
	case *kmsg.BrokerRegistrationResponse:
		r.BrokerEpoch = -1
	case *kmsg.BrokerHeartbeatResponse:
		r.IsFenced = true
	case *kmsg.AllocateProducerIDsResponse:
		r.ProducerIDStart = -1
	}
	return resp
}

// text is a nullable message.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
