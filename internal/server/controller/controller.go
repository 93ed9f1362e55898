package controller

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/quota"
	"github.com/kalda/kalda/internal/server/quorum"
)

// Origin is who sent a request, as the node that took it from the socket knows.
type Origin struct {
	Principal string // Type:name
	ClientID  string
	Host      net.IP
	Listener  string
}

// Quorum is the part of the metadata quorum that a Controller uses.
type Quorum interface {
	Submit(fn func(w quorum.Writer)) error
	Leader() (id quorum.NodeID, epoch int32)
}

// Controller is the quorum.Machine of a node with the controller role. Make it with New, give it to
// quorum.Open, Attach that quorum, then start it.
type Controller struct {
	cfg     Config
	rules   meta.Rules
	publish Publish
	quorum  Quorum
	seen    atomic.Pointer[meta.Image]

	// The rest belongs to the quorum's goroutine.
	committed *meta.Image // everything applied, perhaps inside a metadata transaction
	lead      *leadership // nil unless leading
	limits    *quota.Limits
	tokens    *quota.Tokens
}

// New makes a Controller that isn't part of a quorum yet.
func New(cfg Config, publish Publish) *Controller {
	cfg.setDefaults()
	c := &Controller{cfg: cfg, publish: publish, committed: meta.Empty()}
	c.tokens = quota.NewTokens(quota.Window{Samples: cfg.QuotaSamples, Each: cfg.QuotaWindow}, cfg.QuotaClients)
	c.rules = meta.Rules{
		ClusterID: cfg.ClusterID, Self: cfg.NodeID,
		Partitions: cfg.Partitions, ReplicationFactor: cfg.ReplicationFactor,
		MinISR: cfg.MinISR, Unclean: cfg.Unclean, KeepTopics: cfg.KeepTopics,
		Validate: cfg.Validate, ListKeys: cfg.ListKeys,
	}
	c.seen.Store(c.committed)
	return c
}

// Attach tells which quorum this machine is of. Before the quorum starts.
func (c *Controller) Attach(q Quorum) { c.quorum = q }

// Image is the newest published image, an empty one before the first.
func (c *Controller) Image() *meta.Image { return c.seen.Load() }

// Handle answers one request of a client, forwarded or not, or of a broker. reply is called exactly once,
// perhaps before Handle returns, on any goroutine; it must not block. A controller that doesn't lead
// answers NOT_CONTROLLER.
func (c *Controller) Handle(req kmsg.Request, from Origin, reply func(kmsg.Response)) {
	r := &request{req: req, from: from, reply: reply}
	if q, ok := req.(*kmsg.AlterClientQuotasRequest); ok {
		if names := hostNames(q); len(names) > 0 { // a look-up takes time
			go func() {
				r.unresolved = unresolved(names)
				c.submit(r)
			}()
			return
		}
	}
	c.submit(r)
}

func (c *Controller) submit(r *request) {
	err := c.quorum.Submit(func(w quorum.Writer) {
		r.w = w
		c.handle(r)
	})
	if err != nil {
		r.reply(c.notController(r.req))
	}
}

// Apply takes one committed batch: on the leader, the image that it made when it appended that batch
// becomes the visible one.
func (c *Controller) Apply(b quorum.Batch) {
	img, d := c.lead.take(b)
	if img == nil {
		var err error
		if img, d, err = c.committed.Apply(b.Base, b.Epoch, b.AppendTime, b.Records); err != nil {
			c.cfg.Fault(err)
			return
		}
		img.Offset = b.Last
	}
	c.show(img, d)
	c.lead.fire(b.Last)
}

func (c *Controller) show(img *meta.Image, d *meta.Delta) {
	c.committed = img
	if img.InTransaction() {
		return
	}
	if d.Snapshot || d.Quotas {
		c.limits = quota.FromRecords(img.Quotas())
	}
	c.publish(img, d)
	c.seen.Store(img)
}

// Restore replaces everything with a snapshot.
func (c *Controller) Restore(s *quorum.Snapshot) {
	img, d, err := c.seen.Load().FromSnapshot(s.Offset-1, s.Epoch, s.Time, s.Records)
	if err != nil {
		c.cfg.Fault(err)
		return
	}
	c.show(img, d)
}

// Follow drops what was planned and not committed.
func (c *Controller) Follow(leader quorum.NodeID, epoch int32) {
	l := c.lead
	c.lead = nil
	if l != nil {
		c.cfg.Logger.Info("no longer the active controller", "leader", leader, "epoch", epoch)
		l.abandon(c)
	}
}

// Snapshot cuts the committed state as it is now.
func (c *Controller) Snapshot() func(yield func(record []byte) bool) {
	if c.committed.InTransaction() {
		return nil
	}
	return c.committed.Snapshot()
}

// Tick does the periodic work of the active controller.
func (c *Controller) Tick(now time.Time, w quorum.Writer) time.Time {
	if c.lead == nil || !w.Leading() {
		return time.Time{}
	}
	return c.lead.tick(now, w, c)
}
