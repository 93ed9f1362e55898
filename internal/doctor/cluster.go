package doctor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
)

const onlineTimeout = 20 * time.Second

// online examines a cluster that runs.
func (x *examination) online(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, onlineTimeout)
	defer cancel()
	if !x.reachable(ctx) {
		return
	}
	seeds := strings.Split(x.o.Bootstrap, ",")
	cl, err := kgo.NewClient(kgo.SeedBrokers(seeds...), kgo.DisableClientMetrics(),
		kgo.RetryTimeout(5*time.Second))
	if err != nil {
		x.add(Error, "cluster", x.o.Bootstrap, err.Error(), "Correct --bootstrap-server.")
		return
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	md, err := adm.Metadata(ctx)
	if err != nil {
		x.add(Error, "cluster", x.o.Bootstrap, "it doesn't answer a metadata request: "+err.Error(),
			"Look whether that is a listener for clients, and at the node's log.")
		return
	}
	x.checked(fmt.Sprintf("cluster %s at %s: %d brokers, %d topics", md.Cluster, x.o.Bootstrap, len(md.Brokers),
		len(md.Topics)))
	x.brokers(ctx, md.Brokers)
	x.sameCluster(&md)
	x.partitions(&md)
	if names := md.Topics.Names(); len(names) > 0 {
		all, err := adm.DescribeTopicConfigs(ctx, names...)
		x.topicFactors(all, err, &md)
	}
	x.clusterFactors(len(md.Brokers))
	if x.cfg != nil && x.o.File != "" {
		all, err := adm.DescribeBrokerConfigs(ctx, x.cfg.NodeID)
		x.drift(all, err)
	}
	x.brokerClock(ctx)
}

// reachable dials the bootstrap servers; one that answers is enough to go on.
func (x *examination) reachable(ctx context.Context) bool {
	ok := false
	for addr := range strings.SplitSeq(x.o.Bootstrap, ",") {
		addr = strings.TrimSpace(addr)
		if err := x.host.Dial(ctx, addr); err != nil {
			x.add(Error, "cluster", addr, "it can't be dialled: "+reason(err).Error(),
				"Start the node, or correct the address; look for a firewall between.")
			continue
		}
		ok = true
	}
	return ok
}

// brokers dials what every broker advertises, as clients must.
func (x *examination) brokers(ctx context.Context, list kadm.BrokerDetails) {
	seen := map[string]int32{}
	for i := range list {
		b := &list[i]
		addr := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		where := fmt.Sprintf("broker %d", b.NodeID)
		if other, twice := seen[addr]; twice {
			x.add(Error, "cluster", where, fmt.Sprintf("it advertises %s, as broker %d does", addr, other),
				"Give each its own advertised.listeners.")
		}
		seen[addr] = b.NodeID
		if _, err := x.host.Lookup(ctx, b.Host); err != nil && net.ParseIP(b.Host) == nil {
			x.add(Error, "cluster", where, fmt.Sprintf("it advertises %s, which doesn't resolve here: clients on "+
				"this "+
				"machine can't use it", addr), "Correct its advertised.listeners, or make the name known.")
			continue
		}
		if err := x.host.Dial(ctx, addr); err != nil {
			x.add(Error, "cluster", where, fmt.Sprintf("it advertises %s, which can't be dialled from here: %v", addr,
				reason(err)), "Correct its advertised.listeners, or open the way (firewall, port mapping of the "+
				"container).")
		}
	}
}

// sameCluster holds the running cluster against the data and the configuration.
func (x *examination) sameCluster(md *kadm.Metadata) {
	if x.cfg == nil {
		return
	}
	if x.cluster != "" && md.Cluster != x.cluster {
		x.add(Error, "cluster", x.o.Bootstrap, fmt.Sprintf("its cluster.id is %s, and that of the data here is %s",
			md.Cluster, x.cluster), "Correct --bootstrap-server, or this node's quorum: they are different clusters.")
	}
	if len(x.busy) == 0 || !x.cfg.Broker {
		return
	}
	if !slices.ContainsFunc(md.Brokers, func(b kadm.BrokerDetail) bool { return b.NodeID == x.cfg.NodeID }) {
		x.add(Error, "cluster", x.o.Bootstrap, fmt.Sprintf("this node (%d) runs, and isn't among the "+
			"cluster's live brokers",
			x.cfg.NodeID), "Look at its log: it can't reach the controller, or is fenced.")
	}
}

// partitions counts those that are down or lack replicas.
func (x *examination) partitions(md *kadm.Metadata) {
	var offline, under []string
	for _, t := range md.Topics.Sorted() {
		for _, p := range t.Partitions.Sorted() {
			name := fmt.Sprintf("%s-%d", t.Topic, p.Partition)
			switch {
			case p.Leader < 0:
				offline = append(offline, name)
			case len(p.ISR) < len(p.Replicas):
				under = append(under, name)
			}
		}
	}
	if len(offline) > 0 {
		x.add(Error, "cluster", few(offline), fmt.Sprintf("%d partitions have no leader", len(offline)),
			"Start the brokers that hold their replicas; look at their logs and disks.")
	}
	if len(under) > 0 {
		x.add(Warning, "cluster", few(under), fmt.Sprintf("%d partitions lack replicas in sync", len(under)),
			"Start the brokers that are down, or wait until they have caught up.")
	}
}

// few names some of many.
func few(names []string) string {
	const show = 5
	if len(names) <= show {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:show], ", "), len(names)-show)
}

// topicFactors looks for topics that can never be written with acks=all.
func (x *examination) topicFactors(all kadm.ResourceConfigs, err error, md *kadm.Metadata) {
	if err != nil {
		x.add(Info, "cluster", x.o.Bootstrap, "configurations of topics can't be read: "+err.Error(), "Look "+
			"at its log.")
		return
	}
	for _, c := range all {
		t := md.Topics[c.Name]
		if len(t.Partitions) == 0 {
			continue
		}
		for _, k := range c.Configs {
			least, err := strconv.Atoi(k.MaybeValue())
			if k.Key != "min.insync.replicas" || err != nil {
				continue
			}
			if n := t.Partitions.NumReplicas(); least > n {
				x.add(Error, "replication", "topic "+c.Name, fmt.Sprintf("min.insync.replicas=%d, and it has %d "+
					"replicas: "+
					"no record is ever acknowledged with acks=all", least, n),
					"Lower min.insync.replicas of the topic (kafka-configs), or give it more replicas.")
			}
		}
	}
}

// clusterFactors holds replication factors against the brokers that are there.
func (x *examination) clusterFactors(brokers int) {
	if x.cfg == nil {
		return
	}
	for _, c := range []struct {
		key string
		s   Severity
	}{
		{"default.replication.factor", Error},
		{"offsets.topic.replication.factor", Warning},
		{"transaction.state.log.replication.factor", Warning},
	} {
		n := x.cfg.Int(c.key)
		if n <= brokers || c.s == Warning && x.alone() && !x.cfg.IsSet(c.key) {
			continue
		}
		what := "topics can't be made with it"
		if c.s == Warning {
			what = "the internal topic gets fewer replicas"
		}
		x.add(c.s, "replication", x.file(c.key), fmt.Sprintf("%s=%d, and %d brokers are alive: "+
			"%s", c.key, n, brokers, what),
			"Start more brokers, or lower it.")
	}
}

// drift tells where the running node has other values than the file: set at run time, or changed since.
func (x *examination) drift(all kadm.ResourceConfigs, err error) {
	if err != nil || len(all) == 0 || all[0].Err != nil {
		return // not this cluster's, or not running: told elsewhere
	}
	for _, c := range all[0].Configs {
		mine, set := x.cfg.Plain(c.Key)
		k := config.BrokerKey(c.Key)
		if c.Sensitive || c.Value == nil || k == nil || !set || k.Mode == config.ReadOnly {
			continue
		}
		theirs, mine := c.MaybeValue(), strings.TrimSpace(mine)
		if mine != theirs && c.Source != kmsg.ConfigSourceStaticBrokerConfig {
			x.add(Info, "config", x.file(c.Key), fmt.Sprintf("the running node has %s=%s, set at run time; the "+
				"file says %s",
				c.Key, theirs, mine), "Remove one of them, so that nobody is misled.")
		}
	}
}

// brokerClock compares this clock with the broker's, whose HTTP endpoint tells it.
func (x *examination) brokerClock(ctx context.Context) {
	if x.cfg == nil || x.cfg.HTTPListener == "" {
		return
	}
	first, _, _ := strings.Cut(x.o.Bootstrap, ",")
	host, _, err := net.SplitHostPort(strings.TrimSpace(first))
	if err != nil {
		return
	}
	_, port, err := net.SplitHostPort(x.cfg.HTTPListener)
	if err != nil {
		return
	}
	theirs, err := x.host.Date(ctx, net.JoinHostPort(host, port))
	if err != nil {
		return // the endpoint may be closed to us; that is no fault
	}
	// The header has whole seconds.
	if d := theirs.Sub(x.host.Now()).Abs(); d > 5*time.Second {
		x.add(Warning, "clock", "broker at "+first, fmt.Sprintf("its clock and this one differ by "+
			"%s", d.Round(time.Second)),
			"Run a time service (chrony, systemd-timesyncd) on both machines.")
	}
}
