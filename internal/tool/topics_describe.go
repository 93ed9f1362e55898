package tool

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicView is a topic as --describe shows it.
type topicView struct {
	name       string
	id         [16]byte
	partitions []partitionView
	configs    []kmsg.DescribeConfigsResponseResourceConfig
}

type partitionView struct {
	number, leader   int32
	replicas, isr    []int32
	adding, removing []int32
	elr, lastELR     []int32
	eligible         bool // the server told elr and lastELR
}

func (t *topicsRun) describe(ctx context.Context) error {
	limit, err := t.Int("partition-size-limit-per-response", 2000)
	if err != nil {
		return err
	}
	var views []topicView
	if t.Has("topic-id") {
		views, err = t.describeByID(ctx, limit)
	} else {
		var names []string
		if names, err = t.existing(ctx); err == nil && len(names) > 0 {
			views, err = describeTopics(ctx, t.client, names, limit)
		}
	}
	if err != nil || len(views) == 0 {
		return err
	}
	if err := describeConfigsOf(ctx, t.client, views); err != nil {
		return err
	}
	if err := addReassignments(ctx, t.client, views); err != nil {
		return err
	}
	live, err := liveBrokers(ctx, t.client)
	if err != nil {
		return err
	}
	for i := range views {
		t.show(&views[i], live)
	}
	return nil
}

func (t *topicsRun) describeByID(ctx context.Context, limit int) ([]topicView, error) {
	text := t.Or("topic-id", "")
	id, err := parseUUID(text)
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrMetadataRequest()
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return nil, err
	}
	for _, topic := range resp.Topics {
		if topic.TopicID == id && topic.Topic != nil {
			return describeTopics(ctx, t.client, []string{*topic.Topic}, limit)
		}
	}
	if t.Has("if-exists") {
		return nil, nil
	}
	return nil, fmt.Errorf("TopicId '%s' does not exist as expected", text)
}

// parseUUID reads Kafka's 22 characters.
func parseUUID(text string) (id [16]byte, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil && len(raw) == 0 {
		return id, fmt.Errorf("Illegal base64 character in `%s`", text)
	}
	if len(text) > 24 {
		return id, fmt.Errorf("Input string with prefix `%s` is too long to be decoded as a base64 UUID", text[:24])
	}
	if len(raw) != len(id) {
		return id, fmt.Errorf("Input string `%s` decoded as %d bytes, which is not equal to the expected 16 "+
			"bytes of"+
			" a base64-encoded UUID", text, len(raw))
	}
	return [16]byte(raw), nil
}

func uuidText(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// describeTopics asks page by page, and falls back to Metadata on servers that have no such pages.
func describeTopics(ctx context.Context, client *kgo.Client, names []string, limit int) ([]topicView, error) {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = int32(limit)
	for _, n := range names {
		topic := kmsg.NewDescribeTopicPartitionsRequestTopic()
		topic.Topic = n
		req.Topics = append(req.Topics, topic)
	}
	var views []topicView
	for {
		resp, err := req.RequestWith(ctx, client)
		if errors.Is(err, kerr.UnsupportedVersion) || isUnsupported(err) {
			return describeByMetadata(ctx, client, names)
		}
		if err != nil {
			return nil, err
		}
		for i := range resp.Topics {
			if err := answer(resp.Topics[i].ErrorCode, nil); err != nil {
				return nil, err
			}
			views = appendPage(views, &resp.Topics[i])
		}
		next := resp.NextCursor
		if next == nil {
			break
		}
		cursor := kmsg.NewDescribeTopicPartitionsRequestCursor()
		cursor.Topic, cursor.Partition = next.Topic, next.Partition
		req.Cursor = &cursor
	}
	sort.Slice(views, func(i, j int) bool { return views[i].name < views[j].name })
	return views, nil
}

// isUnsupported says whether the broker does not know the request at all.
func isUnsupported(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "unknown request key") ||
		strings.Contains(err.Error(), "broker is too old"))
}

// appendPage adds one topic of a page, which may continue the last topic of the page before.
func appendPage(views []topicView, topic *kmsg.DescribeTopicPartitionsResponseTopic) []topicView {
	name := ""
	if topic.Topic != nil {
		name = *topic.Topic
	}
	if len(views) == 0 || views[len(views)-1].name != name {
		views = append(views, topicView{name: name, id: topic.TopicID})
	}
	v := &views[len(views)-1]
	for _, p := range topic.Partitions {
		v.partitions = append(v.partitions, partitionView{
			number: p.Partition, leader: p.LeaderID,
			replicas: p.Replicas, isr: p.ISR, elr: p.EligibleLeaderReplicas, lastELR: p.LastKnownELR,
			eligible: true,
		})
	}
	return views
}

func describeByMetadata(ctx context.Context, client *kgo.Client, names []string) ([]topicView, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, n := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = new(n)
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	var views []topicView
	for _, topic := range resp.Topics {
		if err := answer(topic.ErrorCode, nil); err != nil {
			return nil, err
		}
		v := topicView{name: *topic.Topic, id: topic.TopicID}
		for _, p := range topic.Partitions {
			v.partitions = append(v.partitions, partitionView{
				number: p.Partition, leader: p.Leader,
				replicas: p.Replicas, isr: p.ISR,
			})
		}
		sort.Slice(v.partitions, func(i, j int) bool { return v.partitions[i].number < v.partitions[j].number })
		views = append(views, v)
	}
	sort.Slice(views, func(i, j int) bool { return views[i].name < views[j].name })
	return views, nil
}

// describeConfigsOf fills in the configurations that are not built-in defaults, in the server's order.
func describeConfigsOf(ctx context.Context, client *kgo.Client, views []topicView) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	byName := make(map[string]*topicView)
	for i := range views {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, views[i].name
		req.Resources = append(req.Resources, r)
		byName[views[i].name] = &views[i]
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
		if v := byName[r.ResourceName]; v != nil {
			v.configs = r.Configs
		}
	}
	return nil
}

// addReassignments marks partitions on the move; servers without that request have none.
func addReassignments(ctx context.Context, client *kgo.Client, views []topicView) error {
	req := kmsg.NewPtrListPartitionReassignmentsRequest()
	req.TimeoutMillis = 30000
	byName := make(map[string]*topicView)
	for i := range views {
		topic := kmsg.NewListPartitionReassignmentsRequestTopic()
		topic.Topic = views[i].name
		for _, p := range views[i].partitions {
			topic.Partitions = append(topic.Partitions, p.number)
		}
		req.Topics = append(req.Topics, topic)
		byName[views[i].name] = &views[i]
	}
	resp, err := req.RequestWith(ctx, client)
	if isUnsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			v := byName[topic.Topic]
			for i := range v.partitions {
				if v.partitions[i].number == p.Partition {
					v.partitions[i].adding, v.partitions[i].removing = p.AddingReplicas, p.RemovingReplicas
				}
			}
		}
	}
	return nil
}

func liveBrokers(ctx context.Context, client *kgo.Client) (map[int32]bool, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	live := make(map[int32]bool)
	for _, b := range resp.Brokers {
		live[b.NodeID] = true
	}
	return live, nil
}

// show prints the header, the partitions, or both, as the filters ask.
func (t *topicsRun) show(v *topicView, live map[int32]bool) {
	filtered := t.Has("under-replicated-partitions", "unavailable-partitions",
		"under-min-isr-partitions", "at-min-isr-partitions")
	overrides := v.overrides()
	only := t.Has("topics-with-overrides")
	if !filtered && (!only || overrides != "") {
		writeTopic(t.Out, v, overrides)
	}
	if only {
		return
	}
	for i := range v.partitions {
		p := &v.partitions[i]
		if !filtered || t.wanted(v, p, live) {
			writePartition(t.Out, v.name, p)
		}
	}
}

func (t *topicsRun) wanted(v *topicView, p *partitionView, live map[int32]bool) bool {
	return t.Has("under-replicated-partitions") && len(p.isr) < len(p.replicas)-len(p.adding) ||
		t.Has("unavailable-partitions") && !live[p.leader] ||
		t.Has("under-min-isr-partitions") && len(p.isr) < v.minISR() ||
		t.Has("at-min-isr-partitions") && len(p.isr) == v.minISR()
}

func (v *topicView) minISR() int {
	for _, c := range v.configs {
		if c.Name == "min.insync.replicas" && c.Value != nil {
			n, _ := strconv.Atoi(*c.Value)
			return n
		}
	}
	return 1
}

func (v *topicView) overrides() string {
	var words []string
	for _, c := range v.configs {
		if c.Source != kmsg.ConfigSourceDefaultConfig && c.Value != nil {
			words = append(words, c.Name+"="+*c.Value)
		}
	}
	return strings.Join(words, ",")
}

func writeTopic(w io.Writer, v *topicView, overrides string) {
	fmt.Fprintf(w, "Topic: %s", v.name)
	if v.id != [16]byte{} {
		fmt.Fprintf(w, "\tTopicId: %s", uuidText(v.id))
	}
	replicas := 0
	if len(v.partitions) > 0 {
		replicas = len(v.partitions[0].replicas)
	}
	fmt.Fprintf(w, "\tPartitionCount: %d\tReplicationFactor: %d\tConfigs: %s\n", len(v.partitions), replicas,
		overrides)
}

func writePartition(w io.Writer, topic string, p *partitionView) {
	leader := "none"
	if p.leader >= 0 {
		leader = strconv.Itoa(int(p.leader))
	}
	fmt.Fprintf(w, "\tTopic: %s\tPartition: %d\tLeader: %s\tReplicas: %s\tIsr: %s",
		topic, p.number, leader, commas(p.replicas), commas(p.isr))
	if len(p.adding) > 0 || len(p.removing) > 0 {
		fmt.Fprintf(w, "\tAdding Replicas: %s\tRemoving Replicas: %s", commas(p.adding), commas(p.removing))
	}
	if p.eligible {
		fmt.Fprintf(w, "\tElr: %s\tLastKnownElr: %s\n", commas(p.elr), commas(p.lastELR))
		return
	}
	fmt.Fprint(w, "\tElr: N/A\tLastKnownElr: N/A\n")
}
