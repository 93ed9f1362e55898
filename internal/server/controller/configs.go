package controller

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

func (c *Controller) alterConfigs(r *request, q *kmsg.AlterConfigsRequest) {
	in := make([]meta.ResourceChange, len(q.Resources))
	for i := range q.Resources {
		s := &q.Resources[i]
		in[i] = meta.ResourceChange{Resource: resource(s.ResourceType, s.ResourceName), Replace: true}
		for _, e := range s.Configs {
			in[i].Changes = append(in[i].Changes, meta.ConfigChange{Name: e.Name, Value: e.Value})
		}
	}
	recs, results := c.planner(r.w).AlterConfigs(in)
	if q.ValidateOnly {
		recs = nil
	}
	c.write(r, recs, alterConfigsResponse(q, func(i int) meta.Failure { return results[i] }))
}

func resource(kind kmsg.ConfigResourceType, name string) meta.ConfigResource {
	return meta.ConfigResource{Kind: meta.ConfigKind(kind), Name: name}
}

func alterConfigsResponse(q *kmsg.AlterConfigsRequest, result func(int) meta.Failure) kmsg.Response {
	resp := kmsg.NewPtrAlterConfigsResponse()
	resp.Version = q.Version
	for i := range q.Resources {
		f := result(i)
		s := kmsg.NewAlterConfigsResponseResource()
		s.ResourceType, s.ResourceName = q.Resources[i].ResourceType, q.Resources[i].ResourceName
		s.ErrorCode, s.ErrorMessage = int16(f.Code), text(f.Message)
		resp.Resources = append(resp.Resources, s)
	}
	return resp
}

func (c *Controller) incrementalAlterConfigs(r *request, q *kmsg.IncrementalAlterConfigsRequest) {
	in := make([]meta.ResourceChange, len(q.Resources))
	for i := range q.Resources {
		s := &q.Resources[i]
		in[i] = meta.ResourceChange{Resource: resource(s.ResourceType, s.ResourceName)}
		for _, e := range s.Configs {
			in[i].Changes = append(in[i].Changes,
				meta.ConfigChange{Name: e.Name, Op: meta.ConfigOp(e.Op), Value: e.Value})
		}
	}
	recs, results := c.planner(r.w).AlterConfigs(in)
	if q.ValidateOnly {
		recs = nil
	}
	c.write(r, recs, incrementalAlterConfigsResponse(q, func(i int) meta.Failure { return results[i] }))
}

func incrementalAlterConfigsResponse(
	q *kmsg.IncrementalAlterConfigsRequest, result func(int) meta.Failure,
) kmsg.Response {
	resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
	resp.Version = q.Version
	for i := range q.Resources {
		f := result(i)
		s := kmsg.NewIncrementalAlterConfigsResponseResource()
		s.ResourceType, s.ResourceName = q.Resources[i].ResourceType, q.Resources[i].ResourceName
		s.ErrorCode, s.ErrorMessage = int16(f.Code), text(f.Message)
		resp.Resources = append(resp.Resources, s)
	}
	return resp
}
