package meta

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// The parts of whom a client quota is for.
const (
	QuotaUser   = "user"
	QuotaClient = "client-id"
	QuotaIP     = "ip"
)

// QuotaOp sets or removes one quota.
type QuotaOp struct {
	Key    string
	Value  float64
	Remove bool
}

// QuotaChange is what to do with the quotas of one entity.
type QuotaChange struct {
	Entity []record.QuotaEntity
	Ops    []QuotaOp
	// Unresolved is an address among the entity's names that is neither an IP nor resolves to one, "" for none:
	// who plans can't look names up.
	Unresolved string
}

// QuotaResult is what became of the changes of one entity.
type QuotaResult struct {
	Entity []record.QuotaEntity
	Failure
}

// quotaKeys are the keys of clients' quotas: the largest value where it has to be whole, 0 where it may be
// any. Quotas of addresses have one key.
var quotaKeys = map[string]float64{
	"producer_byte_rate": math.MaxInt64, "consumer_byte_rate": math.MaxInt64,
	"request_percentage": 0, "controller_mutation_rate": 0,
}

const (
	ipQuotaKey = "connection_creation_rate"
	// quotaFraction is by how much a value may miss a whole number.
	quotaFraction = 1e-6
)

// AlterQuotas plans changes of client quotas; there is one result for each entity, in the order of their
// first change, and each entity stands alone. Of an entity that is named twice the first change holds.
func (p *Planner) AlterQuotas(in []QuotaChange) (recs [][]byte, results []QuotaResult) {
	o := p.output()
	at := map[string]int{}
	for i := range in {
		c := &in[i]
		entity := lastOfType(c.Entity)
		name := entityName(entity)
		if n, twice := at[name]; twice {
			results[n].Failure = duplicateEntity(entity)
			continue
		}
		at[name] = len(results)
		r := QuotaResult{Entity: entity, Failure: checkQuotaEntity(entity)}
		if r.OK() && c.Unresolved != "" {
			r.Failure = failf(kerr.InvalidRequest, "%s is not a valid IP or resolvable host.", c.Unresolved)
		}
		if r.OK() {
			r.Failure = p.alterQuota(o, entity, c.Ops)
		}
		results = append(results, r)
	}
	return o.recs, results
}

// lastOfType is the entity as a map would have it: of two parts of a type the last counts.
func lastOfType(in []record.QuotaEntity) []record.QuotaEntity {
	parts := map[string]*string{}
	for _, e := range in {
		parts[e.Type] = e.Name
	}
	out := make([]record.QuotaEntity, 0, len(parts))
	for _, kind := range slices.Sorted(maps.Keys(parts)) {
		out = append(out, record.QuotaEntity{Type: kind, Name: parts[kind]})
	}
	return out
}

func entityName(entity []record.QuotaEntity) string {
	return quotaKey(&record.ClientQuota{Entity: entity})
}

func duplicateEntity(entity []record.QuotaEntity) Failure {
	parts := make([]string, len(entity))
	for i, e := range entity {
		parts[i] = e.Type + "=null"
		if e.Name != nil {
			parts[i] = e.Type + "=" + *e.Name
		}
	}
	return failf(kerr.InvalidRequest, "Ignoring duplicate entity ClientQuotaEntity(entries={%s})",
		strings.Join(parts, ", "))
}

func checkQuotaEntity(entity []record.QuotaEntity) Failure {
	if len(entity) == 0 {
		return failf(kerr.InvalidRequest, "Invalid empty client quota entity")
	}
	var ip bool
	for _, e := range entity {
		switch e.Type {
		case QuotaUser, QuotaClient:
		case QuotaIP:
			ip = true
		default:
			return failf(kerr.InvalidRequest, "Unhandled client quota entity type: %s", e.Type)
		}
		if e.Name != nil && *e.Name == "" {
			return failf(kerr.InvalidRequest, "Empty %s not supported", e.Type)
		}
	}
	if ip && len(entity) > 1 {
		return failf(kerr.InvalidRequest,
			"Invalid quota entity combination, IP entity shouldnt be combined with User or ClientId")
	}
	return Failure{}
}

func (p *Planner) alterQuota(o *output, entity []record.QuotaEntity, ops []QuotaOp) Failure {
	seen := map[string]bool{}
	for _, op := range ops {
		if seen[op.Key] {
			return duplicateEntity(entity)
		}
		seen[op.Key] = true
	}
	n := len(o.recs)
	for _, op := range ops {
		r := &record.ClientQuota{Entity: entity, Name: op.Key, Value: op.Value, Remove: op.Remove}
		was, had := p.Image.quotas.Get(quotaKey(r))
		if op.Remove {
			r.Value = 0
			if had {
				o.put(r)
			}
			continue
		}
		if f := checkQuota(entity[0].Type == QuotaIP, op); !f.OK() {
			o.recs = o.recs[:n]
			return f
		}
		if !had || was.Value != op.Value {
			o.put(r)
		}
	}
	return Failure{}
}

func checkQuota(ip bool, op QuotaOp) Failure {
	most, known := quotaKeys[op.Key]
	kind := "a LONG"
	if ip {
		most, known, kind = math.MaxInt32, op.Key == ipQuotaKey, "an INT"
	}
	switch {
	case !known:
		return failf(kerr.InvalidRequest, "Invalid configuration key %s", op.Key)
	case math.IsNaN(op.Value) || math.IsInf(op.Value, 0):
		return failf(kerr.InvalidRequest, "Quota %s must be a finite number", op.Key)
	case op.Value <= 0:
		return failf(kerr.InvalidRequest, "Quota %s must be greater than 0", op.Key)
	case most == 0:
		return Failure{}
	case op.Value > most:
		return failf(kerr.InvalidRequest, "Proposed value for %s is too large for %s.", op.Key, kind)
	case math.Abs(op.Value-math.Round(op.Value)) > quotaFraction:
		return failf(kerr.InvalidRequest, "%s cannot be a fractional value.", op.Key)
	}
	return Failure{}
}
