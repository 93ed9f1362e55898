package controller

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

func (c *Controller) updateFeatures(r *request, q *kmsg.UpdateFeaturesRequest) {
	in := make([]meta.FeatureUpdate, len(q.FeatureUpdates))
	for i, u := range q.FeatureUpdates {
		in[i] = meta.FeatureUpdate{Name: u.Feature, Level: u.MaxVersionLevel, Kind: u.UpgradeType}
		if q.Version == 0 {
			in[i].Kind = meta.UpgradeOnly
			if u.AllowDowngrade {
				in[i].Kind = meta.SafeDowngrade
			}
		}
	}
	recs, _, f := c.planner(r.w).UpdateFeatures(in)
	if !f.OK() {
		f.Message = "The update failed for all features since the following feature had an error: " + f.Message
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	if q.ValidateOnly {
		recs = nil
	}
	c.write(r, recs, updateFeaturesResponse(q, meta.Failure{}))
}

// updateFeaturesResponse tells the outcome for all; before version 2 for each, too.
func updateFeaturesResponse(q *kmsg.UpdateFeaturesRequest, f meta.Failure) *kmsg.UpdateFeaturesResponse {
	resp := kmsg.NewPtrUpdateFeaturesResponse()
	resp.Version = q.Version
	resp.ErrorCode, resp.ErrorMessage = int16(f.Code), text(f.Message)
	if q.Version >= 2 || f.Code == kerr.NotController {
		return resp
	}
	for _, u := range q.FeatureUpdates {
		res := kmsg.NewUpdateFeaturesResponseResult()
		res.Feature, res.ErrorCode, res.ErrorMessage = u.Feature, int16(f.Code), text(f.Message)
		resp.Results = append(resp.Results, res)
	}
	return resp
}
