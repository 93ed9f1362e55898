package tool

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// resourceType is the wire's number of an entity type.
func resourceType(kind string) kmsg.ConfigResourceType {
	switch kind {
	case "topics":
		return kmsg.ConfigResourceTypeTopic
	case "brokers":
		return kmsg.ConfigResourceTypeBroker
	case "broker-loggers":
		return kmsg.ConfigResourceTypeBrokerLogger
	case "client-metrics":
		return 16
	}
	return 32 // groups
}

// ask sends a request about one entity where it has to go: a broker's own answers about that broker.
func (c *configsRun) ask(ctx context.Context, e entity, req kmsg.Request) (kmsg.Response, error) {
	if e.named && (e.kind == "brokers" || e.kind == "broker-loggers") && c.controller == nil {
		if id, err := strconv.ParseInt(e.name, 10, 32); err == nil {
			return c.client.Broker(int(id)).Request(ctx, req)
		}
	}
	return c.Request(ctx, req)
}

// Request asks the controller of --bootstrap-controller, or else whichever broker is right.
func (c *configsRun) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	if c.controller != nil {
		return c.controller.Request(ctx, req)
	}
	return c.client.Request(ctx, req)
}

func (c *configsRun) alterResource(ctx context.Context, e entity, add []setting, remove []string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = resourceType(e.kind), e.name
	for _, s := range add {
		one := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		one.Name, one.Op, one.Value = s.key, kmsg.IncrementalAlterConfigOpSet, new(s.value)
		r.Configs = append(r.Configs, one)
	}
	for _, k := range remove {
		one := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		one.Name, one.Op = k, kmsg.IncrementalAlterConfigOpDelete
		r.Configs = append(r.Configs, one)
	}
	req.Resources = append(req.Resources, r)
	resp, err := c.ask(ctx, e, req)
	if err != nil {
		return err
	}
	for _, r := range resp.(*kmsg.IncrementalAlterConfigsResponse).Resources {
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func (c *configsRun) describe(ctx context.Context) error {
	switch c.entities[0].kind {
	case "users", "clients", "ips":
		return c.describeQuotas(ctx)
	}
	e := c.entities[0]
	if e.named || e.isDefault {
		if e.named {
			ok, err := c.exists(ctx, e)
			if err != nil {
				return err
			}
			if !ok {
				fmt.Fprintf(c.Out, "The %s '%s' doesn't exist and doesn't have dynamic config.\n",
					strings.TrimSuffix(e.kind, "s"), e.name)
				return nil
			}
		}
		return c.describeResource(ctx, e)
	}
	names, err := c.named(ctx, e.kind)
	if err != nil && !isUnsupported(err) {
		return err
	}
	for _, n := range names {
		if err := c.describeResource(ctx, entity{kind: e.kind, name: n, named: true}); err != nil {
			return err
		}
	}
	if e.kind == "brokers" {
		return c.describeResource(ctx, entity{kind: e.kind, isDefault: true})
	}
	return nil
}

// exists says whether the entity is there or has a configuration all the same.
func (c *configsRun) exists(ctx context.Context, e entity) (bool, error) {
	if e.kind == "broker-loggers" {
		return true, nil
	}
	names, err := c.named(ctx, e.kind)
	if isUnsupported(err) {
		return true, nil // the server cannot tell
	}
	if err != nil {
		return false, err
	}
	if slices.Contains(names, e.name) {
		return true, nil
	}
	if e.kind == "groups" {
		return groupExists(ctx, c.client, e.name)
	}
	return false, nil
}

// groupExists says whether a group is listed.
func groupExists(ctx context.Context, client *kgo.Client, id string) (bool, error) {
	for _, shard := range client.RequestSharded(ctx, kmsg.NewPtrListGroupsRequest()) {
		if shard.Err != nil {
			return false, shard.Err
		}
		for _, g := range shard.Resp.(*kmsg.ListGroupsResponse).Groups {
			if g.Group == id {
				return true, nil
			}
		}
	}
	return false, nil
}

// named lists the entities of a kind: topics and brokers that exist, of the others those with a
// configuration.
func (c *configsRun) named(ctx context.Context, kind string) ([]string, error) {
	switch kind {
	case "topics":
		return topicNames(ctx, c.client)
	case "brokers", "broker-loggers":
		ids, err := c.brokerIDs(ctx)
		if err != nil {
			return nil, err
		}
		sort.Ints(ids)
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = strconv.Itoa(id)
		}
		return names, nil
	}
	req := kmsg.NewPtrListConfigResourcesRequest()
	req.ResourceTypes = []int8{int8(resourceType(kind))}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range resp.ConfigResources {
		names = append(names, r.Name)
	}
	sort.Strings(names)
	return names, answer(resp.ErrorCode, nil)
}

// brokerIDs lists the nodes: those of Metadata, or where controllers are asked those of DescribeCluster.
func (c *configsRun) brokerIDs(ctx context.Context) ([]int, error) {
	var ids []int
	if c.controller != nil {
		nodes, err := describeControllers(ctx, c.controller)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes.Brokers {
			ids = append(ids, int(n.NodeID))
		}
		return ids, nil
	}
	live, err := liveBrokers(ctx, c.client)
	for id := range live {
		ids = append(ids, int(id))
	}
	return ids, err
}

func (c *configsRun) describeResource(ctx context.Context, e entity) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = resourceType(e.kind), e.name
	req.Resources = append(req.Resources, r)
	resp, err := c.ask(ctx, e, req)
	if err != nil {
		return err
	}
	for _, r := range resp.(*kmsg.DescribeConfigsResponse).Resources {
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
		c.heading(e)
		sort.Slice(r.Configs, func(i, j int) bool { return r.Configs[i].Name < r.Configs[j].Name })
		for i := range r.Configs {
			if c.Has("all") || isOwn(e, &r.Configs[i]) {
				fmt.Fprintln(c.Out, configLine(&r.Configs[i]))
			}
		}
	}
	return nil
}

func (c *configsRun) heading(e entity) {
	if e.isDefault {
		fmt.Fprintf(c.Out, "Default configs for %s in the cluster are:\n", e.kind)
		return
	}
	what := "Dynamic"
	if c.Has("all") {
		what = "All"
	}
	fmt.Fprintf(c.Out, "%s configs for %s %s are:\n", what, strings.TrimSuffix(e.kind, "s"), e.name)
}

// isOwn says whether a value was set on this very entity.
func isOwn(e entity, c *kmsg.DescribeConfigsResponseResourceConfig) bool {
	switch e.kind {
	case "topics":
		return c.Source == kmsg.ConfigSourceDynamicTopicConfig
	case "brokers":
		if e.isDefault {
			return c.Source == kmsg.ConfigSourceDynamicDefaultBrokerConfig
		}
		return c.Source == kmsg.ConfigSourceDynamicBrokerConfig
	case "broker-loggers":
		return true
	case "client-metrics":
		return c.Source == 7
	}
	return c.Source == 8
}

func configLine(c *kmsg.DescribeConfigsResponseResourceConfig) string {
	var synonyms []string
	for _, s := range c.ConfigSynonyms {
		synonyms = append(synonyms, sourceName(s.Source)+":"+s.Name+"="+orNull(s.Value))
	}
	return fmt.Sprintf("  %s=%s sensitive=%t synonyms={%s}", c.Name, orNull(c.Value), c.IsSensitive,
		strings.Join(synonyms, ", "))
}

func orNull(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func sourceName(s kmsg.ConfigSource) string {
	switch s {
	case 7:
		return "DYNAMIC_CLIENT_METRICS_CONFIG"
	case 8:
		return "DYNAMIC_GROUP_CONFIG"
	}
	return s.String()
}
