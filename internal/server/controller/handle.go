package controller

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/server/quorum"
)

// request is one request being handled on the quorum's goroutine.
type request struct {
	w     quorum.Writer
	req   kmsg.Request
	from  Origin
	reply func(kmsg.Response)
	// unresolved are the hosts of an AlterClientQuotas that don't resolve.
	unresolved map[string]bool
}

func (c *Controller) handle(r *request) {
	if c.lead == nil || !r.w.Leading() {
		r.reply(c.notController(r.req))
		return
	}
	switch q := r.req.(type) {
	case *kmsg.CreateTopicsRequest:
		c.createTopics(r, q)
	case *kmsg.DeleteTopicsRequest:
		c.deleteTopics(r, q)
	case *kmsg.CreatePartitionsRequest:
		c.createPartitions(r, q)
	case *kmsg.AlterConfigsRequest:
		c.alterConfigs(r, q)
	case *kmsg.IncrementalAlterConfigsRequest:
		c.incrementalAlterConfigs(r, q)
	case *kmsg.AlterClientQuotasRequest:
		c.alterQuotas(r, q)
	case *kmsg.BrokerRegistrationRequest:
		c.registerBroker(r, q)
	case *kmsg.BrokerHeartbeatRequest:
		c.heartbeat(r, q)
	case *kmsg.AllocateProducerIDsRequest:
		c.allocateProducerIDs(r, q)
	case *kmsg.AlterPartitionRequest:
		c.alterPartition(r, q)
	case *kmsg.AssignReplicasToDirsRequest:
		c.assignDirectories(r, q)
	case *kmsg.ElectLeadersRequest:
		c.electLeaders(r, q)
	case *kmsg.AlterPartitionAssignmentsRequest:
		c.reassign(r, q)
	case *kmsg.ListPartitionReassignmentsRequest:
		c.listReassignments(r, q)
	case *kmsg.UpdateFeaturesRequest:
		c.updateFeatures(r, q)
	case *kmsg.ControllerRegistrationRequest:
		c.registerController(r, q)
	case *kmsg.UnregisterBrokerRequest:
		c.unregisterBroker(r, q)
	case *kmsg.UnregisterControllerRequest:
		c.unregisterController(r, q)
	default:
		r.reply(Refuse(r.req, kerr.UnsupportedVersion, "Unsupported ApiKey"))
	}
}

// planner plans on the pending image.
func (c *Controller) planner(w quorum.Writer) *meta.Planner {
	return &meta.Planner{Image: c.lead.pending, Rules: &c.rules, Next: w.EndOffset(), Rand: c.cfg.Rand}
}

// write appends records and answers once they're committed and published. Without records the answer waits
// for whatever it was planned on.
func (c *Controller) write(r *request, recs [][]byte, resp kmsg.Response) {
	if len(recs) > c.cfg.MaxRequestRecords {
		r.reply(Refuse(r.req, kerr.PolicyViolation, "Unable to perform excessively large batch operation."))
		return
	}
	c.writeInternal(r, recs, resp)
}

// writeInternal is write for what the cluster itself needs: as large as it must be, in several batches then.
func (c *Controller) writeInternal(r *request, recs [][]byte, resp kmsg.Response) {
	if err := c.append(r.w, recs); err != nil {
		c.cfg.Logger.Error("can't write metadata", "error", err)
		r.reply(Refuse(r.req, kerr.UnknownServerError, ""))
		return
	}
	c.lead.park(parked{req: r.req, reply: r.reply, resp: resp})
}

// append writes records in batches of bounded size and makes the pending image that they lead to. On an
// error nothing of the failing batch is left: neither in the log nor in the image.
func (c *Controller) append(w quorum.Writer, recs [][]byte) error {
	for len(recs) > 0 {
		n := min(len(recs), maxBatchRecords)
		if err := c.lead.append(w, recs[:n:n]); err != nil {
			return err
		}
		recs = recs[n:]
	}
	return nil
}

// maxBatchRecords is how many records one batch of the metadata log holds.
const maxBatchRecords = 10000

func (l *leadership) append(w quorum.Writer, recs [][]byte) error {
	base := w.EndOffset()
	img, d, err := l.pending.Apply(base, w.Epoch(), w.Now().UnixMilli(), recs)
	if err != nil {
		return fmt.Errorf("planned records don't fit: %w", err)
	}
	last, err := w.Append(recs)
	if err != nil {
		return err
	}
	if last != img.Offset {
		return fmt.Errorf("appended up to offset %d, expected %d", last, img.Offset)
	}
	l.pending = img
	l.steps = append(l.steps, step{last: last, img: img, delta: d})
	l.lastOut = w.Now()
	return nil
}

// park holds a reply until everything appended so far is visible.
func (l *leadership) park(p parked) {
	if len(l.steps) == 0 {
		p.reply(p.resp)
		return
	}
	p.offset = l.steps[len(l.steps)-1].last
	l.parked = append(l.parked, p)
}
