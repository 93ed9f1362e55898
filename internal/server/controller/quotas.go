package controller

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/quota"
	"github.com/kalda/kalda/internal/format/record"
)

func (c *Controller) alterQuotas(r *request, q *kmsg.AlterClientQuotasRequest) {
	in := quotaChanges(q)
	for i := range in {
		for _, e := range in[i].Entity {
			if e.Type == meta.QuotaIP && e.Name != nil && r.unresolved[*e.Name] {
				in[i].Unresolved = *e.Name
			}
		}
	}
	recs, results := c.planner(r.w).AlterQuotas(in)
	if q.ValidateOnly {
		recs = nil
	}
	c.write(r, recs, quotasResponse(q, results))
}

func quotaChanges(q *kmsg.AlterClientQuotasRequest) []meta.QuotaChange {
	in := make([]meta.QuotaChange, len(q.Entries))
	for i := range q.Entries {
		for _, e := range q.Entries[i].Entity {
			in[i].Entity = append(in[i].Entity, record.QuotaEntity{Type: e.Type, Name: e.Name})
		}
		for _, op := range q.Entries[i].Ops {
			in[i].Ops = append(in[i].Ops, meta.QuotaOp{Key: op.Key, Value: op.Value, Remove: op.Remove})
		}
	}
	return in
}

func quotasResponse(q *kmsg.AlterClientQuotasRequest, results []meta.QuotaResult) kmsg.Response {
	resp := kmsg.NewPtrAlterClientQuotasResponse()
	resp.Version = q.Version
	for i := range results {
		e := kmsg.NewAlterClientQuotasResponseEntry()
		e.ErrorCode, e.ErrorMessage = int16(results[i].Code), text(results[i].Message)
		for _, p := range results[i].Entity {
			e.Entity = append(e.Entity, kmsg.AlterClientQuotasResponseEntryEntity{Type: p.Type, Name: p.Name})
		}
		resp.Entries = append(resp.Entries, e)
	}
	return resp
}

func failedQuotas(q *kmsg.AlterClientQuotasRequest, f meta.Failure) kmsg.Response {
	in := quotaChanges(q)
	results := make([]meta.QuotaResult, len(in))
	for i := range in {
		results[i] = meta.QuotaResult{Entity: in[i].Entity, Failure: f}
	}
	return quotasResponse(q, results)
}

const (
	// maxHosts is how many host names one request may have looked up; the others count as unknown.
	maxHosts    = 100
	resolveTime = 5 * time.Second
)

// hostNames are the names of addresses that aren't IPs.
func hostNames(q *kmsg.AlterClientQuotasRequest) (names []string) {
	for i := range q.Entries {
		for _, e := range q.Entries[i].Entity {
			if e.Type != meta.QuotaIP || e.Name == nil || *e.Name == "" {
				continue
			}
			if _, err := netip.ParseAddr(*e.Name); err != nil {
				names = append(names, *e.Name)
			}
		}
	}
	return names
}

func unresolved(names []string) map[string]bool {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	unknown := map[string]bool{}
	for i, name := range names {
		if i < maxHosts {
			if found, err := net.DefaultResolver.LookupHost(ctx, name); err == nil && len(found) > 0 {
				continue
			}
		}
		unknown[name] = true
	}
	return unknown
}

// limited is a planner that obeys the quota on changes of the request's client; wait tells afterwards for how
// many ms the client is to be quiet. Requests of versions that can't be told so are only slowed down
// (KIP-599).
func (c *Controller) limited(r *request, strict bool) (p *meta.Planner, wait func() int32) {
	p = c.planner(r.w)
	_, user, _ := strings.Cut(r.from.Principal, ":")
	limit, who, ok := c.limits.Find(quota.Mutation, user, r.from.ClientID)
	if !ok {
		return p, func() int32 { return 0 }
	}
	var longest time.Duration
	p.Mutations = func(n int) bool {
		d, ok := c.tokens.Take(who, float64(n), limit, strict, r.w.Now())
		longest = max(longest, d)
		return ok
	}
	return p, func() int32 { return int32(longest.Milliseconds()) }
}
