package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// serveDescribeClientQuotas tells the quotas of the entities that match all components of the request; with
// strict, of those that have no further part.
func (b *Broker) serveDescribeClientQuotas(r *wire.Request) {
	req := kmsg.NewPtrDescribeClientQuotasRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDescribeClientQuotasResponse()
	if code, message := checkFilter(req); code != kerr.None {
		resp.ErrorCode, resp.ErrorMessage = int16(code), &message
		r.Reply(resp)
		return
	}
	empty := ""
	resp.ErrorMessage = &empty // as Apache's has it
	resp.Entries = describeQuotas(b.Image(), req)
	r.Reply(resp)
}

func checkFilter(req *kmsg.DescribeClientQuotasRequest) (kerr.Code, string) {
	seen := map[string]bool{}
	for i := range req.Components {
		c := &req.Components[i]
		switch {
		case c.EntityType == "":
			return kerr.InvalidRequest, "Invalid empty entity type."
		case seen[c.EntityType]:
			return kerr.InvalidRequest,
				fmt.Sprintf("Entity type %s cannot appear more than once in the filter.", c.EntityType)
		case c.EntityType != meta.QuotaUser && c.EntityType != meta.QuotaClient && c.EntityType != meta.QuotaIP:
			return kerr.UnsupportedVersion, "Unsupported entity type " + c.EntityType
		}
		seen[c.EntityType] = true
		if message := checkMatch(c); message != "" {
			return kerr.InvalidRequest, message
		}
	}
	if seen[meta.QuotaIP] && len(seen) > 1 {
		return kerr.InvalidRequest, "Invalid entity filter component combination. IP filter component should not " +
			"be used with user or clientId filter component."
	}
	return kerr.None, ""
}

func checkMatch(c *kmsg.DescribeClientQuotasRequestComponent) string {
	switch {
	case c.MatchType == kmsg.QuotasMatchTypeExact && c.Match == nil:
		return "Request specified MATCH_TYPE_EXACT, but set match string to null."
	case c.MatchType == kmsg.QuotasMatchTypeDefault && c.Match != nil:
		return "Request specified MATCH_TYPE_DEFAULT, but also specified a match string."
	case c.MatchType == kmsg.QuotasMatchTypeAny && c.Match != nil:
		return "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string."
	case c.MatchType < kmsg.QuotasMatchTypeExact || c.MatchType > kmsg.QuotasMatchTypeAny:
		return fmt.Sprintf("Unknown match type %d", c.MatchType)
	}
	return ""
}

// describeQuotas relies on the image's order, in which the quotas of one entity follow each other.
func describeQuotas(
	img *meta.Image, req *kmsg.DescribeClientQuotasRequest,
) []kmsg.DescribeClientQuotasResponseEntry {
	entries := []kmsg.DescribeClientQuotasResponseEntry{}
	var last []record.QuotaEntity
	for q := range img.Quotas() {
		if !matches(q.Entity, req) {
			continue
		}
		if len(entries) == 0 || !sameEntity(last, q.Entity) {
			e := kmsg.NewDescribeClientQuotasResponseEntry()
			for _, p := range q.Entity {
				e.Entity = append(e.Entity, kmsg.DescribeClientQuotasResponseEntryEntity{Type: p.Type, Name: p.Name})
			}
			entries = append(entries, e)
			last = q.Entity
		}
		e := &entries[len(entries)-1]
		e.Values = append(e.Values, kmsg.DescribeClientQuotasResponseEntryValue{Key: q.Name, Value: q.Value})
	}
	return entries
}

func matches(entity []record.QuotaEntity, req *kmsg.DescribeClientQuotasRequest) bool {
	found := 0
	for i := range req.Components {
		c := &req.Components[i]
		for _, p := range entity {
			if p.Type != c.EntityType {
				continue
			}
			switch c.MatchType {
			case kmsg.QuotasMatchTypeExact:
				if p.Name == nil || *p.Name != *c.Match {
					return false
				}
			case kmsg.QuotasMatchTypeDefault:
				if p.Name != nil {
					return false
				}
			}
			found++
		}
	}
	return found == len(req.Components) && (!req.Strict || found == len(entity))
}

// sameEntity compares entities whatever the order of their parts.
func sameEntity(a, b []record.QuotaEntity) bool {
	if len(a) != len(b) {
		return false
	}
	for _, p := range a {
		same := false
		for _, q := range b {
			if p.Type == q.Type {
				same = p.Name == nil && q.Name == nil || p.Name != nil && q.Name != nil && *p.Name == *q.Name
			}
		}
		if !same {
			return false
		}
	}
	return true
}
