package tool

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

// quotaType is an entity type as the wire spells it.
func quotaType(kind string) string {
	switch kind {
	case "users":
		return "user"
	case "clients":
		return "client-id"
	}
	return "ip"
}

// quotaKeys are the quotas that an entity may have.
func quotaKeys(kind string) []string {
	if kind == "ips" {
		return []string{"connection_creation_rate"}
	}
	return []string{"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
}

// alterQuotas changes quotas, and SCRAM credentials of users.
func (c *configsRun) alterQuotas(ctx context.Context, add []setting, remove []string) error {
	kind := c.entities[0].kind
	isQuota := func(key string) bool { return strings.Contains(strings.Join(quotaKeys(kind), " "), key) }
	isScram := func(key string) bool { return kind == "users" && len(c.entities) == 1 && mechanism(key) != 0 }
	var quotas, scram []setting
	var unknown []string
	for _, s := range add {
		switch {
		case isScram(s.key):
			scram = append(scram, s)
		case isQuota(s.key):
			quotas = append(quotas, s)
		default:
			unknown = append(unknown, s.key)
		}
	}
	if len(unknown) > 0 {
		return unexpected(kind, "added", unknown)
	}
	var dropQuotas, dropScram []string
	for _, k := range remove {
		switch {
		case isScram(k):
			dropScram = append(dropScram, k)
		case isQuota(k):
			dropQuotas = append(dropQuotas, k)
		default:
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		return unexpected(kind, "deleted", unknown)
	}
	if len(scram)+len(dropScram) > 0 {
		if err := c.alterScram(ctx, scram, dropScram); err != nil {
			return err
		}
	}
	if len(quotas)+len(dropQuotas) == 0 {
		return nil
	}
	return c.sendQuotas(ctx, quotas, dropQuotas)
}

func unexpected(kind, done string, names []string) error {
	what := "quota"
	if kind == "users" {
		what = "quota and SCRAM credential"
	}
	return opt.Errorf("Only %s configs can be %s for '%s' using --bootstrap-server. Unexpected config names: %s",
		what, done, kind, strings.Join(names, ", "))
}

func (c *configsRun) sendQuotas(ctx context.Context, set []setting, remove []string) error {
	if err := c.checkRemovable(ctx, remove); err != nil {
		return err
	}
	req := kmsg.NewPtrAlterClientQuotasRequest()
	entry := kmsg.NewAlterClientQuotasRequestEntry()
	for _, e := range c.entities {
		part := kmsg.NewAlterClientQuotasRequestEntryEntity()
		part.Type = quotaType(e.kind)
		if !e.isDefault {
			part.Name = new(e.name)
		}
		entry.Entity = append(entry.Entity, part)
	}
	for _, s := range set {
		v, err := strconv.ParseFloat(s.value, 64)
		if err != nil {
			return opt.Errorf("Cannot parse quota configuration value for %s: %s", s.key, s.value)
		}
		op := kmsg.NewAlterClientQuotasRequestEntryOp()
		op.Key, op.Value = s.key, v
		entry.Ops = append(entry.Ops, op)
	}
	for _, k := range remove {
		op := kmsg.NewAlterClientQuotasRequestEntryOp()
		op.Key, op.Remove = k, true
		entry.Ops = append(entry.Ops, op)
	}
	req.Entries = append(req.Entries, entry)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, e := range resp.Entries {
		if err := answer(e.ErrorCode, e.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

// checkRemovable refuses to delete what is not set.
func (c *configsRun) checkRemovable(ctx context.Context, remove []string) error {
	if len(remove) == 0 {
		return nil
	}
	entries, err := c.quotas(ctx)
	if err != nil {
		return err
	}
	have := make(map[string]bool)
	for _, e := range entries {
		for _, v := range e.Values {
			have[v.Key] = true
		}
	}
	var missing []string
	for _, k := range remove {
		if !have[k] {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		return opt.Errorf("Invalid config(s): %s", strings.Join(missing, ","))
	}
	return nil
}

// quotas asks for the entries of exactly these kinds of entity.
func (c *configsRun) quotas(ctx context.Context) ([]kmsg.DescribeClientQuotasResponseEntry, error) {
	req := kmsg.NewPtrDescribeClientQuotasRequest()
	req.Strict = true
	for _, e := range c.entities {
		part := kmsg.NewDescribeClientQuotasRequestComponent()
		part.EntityType = quotaType(e.kind)
		switch {
		case e.named:
			part.MatchType, part.Match = kmsg.QuotasMatchTypeExact, new(e.name)
		case e.isDefault:
			part.MatchType = kmsg.QuotasMatchTypeDefault
		default:
			part.MatchType = kmsg.QuotasMatchTypeAny
		}
		req.Components = append(req.Components, part)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return nil, err
	}
	return resp.Entries, answer(resp.ErrorCode, resp.ErrorMessage)
}

func (c *configsRun) describeQuotas(ctx context.Context) error {
	entries, err := c.quotas(ctx)
	if err != nil {
		return err
	}
	for i := range entries {
		fmt.Fprintln(c.Out, quotaLine(&entries[i]))
	}
	if e := c.entities[0]; len(c.entities) == 1 && e.kind == "users" && !e.isDefault {
		return c.describeScram(ctx, e)
	}
	return nil
}

func quotaLine(e *kmsg.DescribeClientQuotasResponseEntry) string {
	byType := make(map[string]string)
	for _, part := range e.Entity {
		label := map[string]string{"user": "user-principal", "client-id": "client-id", "ip": "ip"}[part.Type]
		if part.Name == nil {
			byType[part.Type] = "the default " + label
		} else {
			byType[part.Type] = label + " '" + *part.Name + "'"
		}
	}
	var who []string
	for _, t := range []string{"user", "client-id", "ip"} {
		if text, ok := byType[t]; ok {
			who = append(who, text)
		}
	}
	var values []string
	for _, v := range e.Values {
		values = append(values, v.Key+"="+javaDouble(v.Value, 64))
	}
	sort.Strings(values)
	return fmt.Sprintf("Quota configs for %s are %s", strings.Join(who, ", "), strings.Join(values, ", "))
}

// mechanism is the wire's number of a SCRAM mechanism; 0 for other keys.
func mechanism(name string) int8 {
	switch name {
	case "SCRAM-SHA-256":
		return 1
	case "SCRAM-SHA-512":
		return 2
	}
	return 0
}

// describeScram shows users' credentials. Servers without that request have none.
func (c *configsRun) describeScram(ctx context.Context, e entity) error {
	req := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	if e.named {
		u := kmsg.NewDescribeUserSCRAMCredentialsRequestUser()
		u.Name = e.name
		req.Users = append(req.Users, u)
	}
	resp, err := req.RequestWith(ctx, c)
	if isUnsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range resp.Results {
		if r.ErrorCode != 0 {
			continue // no credentials
		}
		var all []string
		for _, i := range r.CredentialInfos {
			name := map[int8]string{1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}[i.Mechanism]
			all = append(all, fmt.Sprintf("%s=iterations=%d", name, i.Iterations))
		}
		fmt.Fprintf(c.Out, "SCRAM credential configs for user-principal '%s' are %s\n", r.User, strings.Join(all,
			", "))
	}
	return nil
}

// alterScram sets credentials from [iterations=n,password=p] and deletes others. Only the salted password
// travels.
func (c *configsRun) alterScram(ctx context.Context, set []setting, remove []string) error {
	e := c.entities[0]
	if e.isDefault {
		return opt.Errorf("The use of --entity-default or --user-defaults is not allowed with User SCRAM " +
			"Credentials " +
			"using --bootstrap-server.")
	}
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	for _, s := range set {
		u, err := upsert(e.name, s)
		if err != nil {
			return err
		}
		req.Upsertions = append(req.Upsertions, u)
	}
	for _, k := range remove {
		d := kmsg.NewAlterUserSCRAMCredentialsRequestDeletion()
		d.Name, d.Mechanism = e.name, mechanism(k)
		req.Deletions = append(req.Deletions, d)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, r := range resp.Results {
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func upsert(user string, s setting) (kmsg.AlterUserSCRAMCredentialsRequestUpsertion, error) {
	u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	u.Name, u.Mechanism, u.Iterations = user, mechanism(s.key), 4096
	password := ""
	for part := range strings.SplitSeq(s.value, ",") {
		k, v, _ := strings.Cut(part, "=")
		switch strings.TrimSpace(k) {
		case "iterations":
			n, err := strconv.ParseInt(v, 10, 32)
			if err != nil || n == 0 {
				return u, opt.Errorf("Iterations must be an integer: %s", v)
			}
			if n != -1 {
				u.Iterations = int32(n)
			}
		case "password":
			password = v
		}
	}
	if password == "" {
		return u, opt.Errorf("SCRAM credential password must be specified for %s", s.key)
	}
	u.Salt = make([]byte, 16)
	if _, err := rand.Read(u.Salt); err != nil {
		return u, err
	}
	h, size := func() hash.Hash { return sha256.New() }, sha256.Size
	if u.Mechanism == 2 {
		h, size = func() hash.Hash { return sha512.New() }, sha512.Size
	}
	var err error
	u.SaltedPassword, err = pbkdf2.Key(h, password, u.Salt, int(u.Iterations), size)
	return u, err
}
