package tool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/tool/opt"
)

// metadataQuorum is kafka-metadata-quorum, as far as it reads.
func metadataQuorum(env *Env, args []string) int {
	global := &opt.Spec{About: "This tool describes kraft metadata quorum status.", Flags: adminFlags()}
	return env.commands(args, global, []command{
		{
			"describe", &opt.Spec{About: "Describe the metadata quorum info", Flags: []opt.Flag{
				{Name: "status", Help: "A short summary of the quorum."},
				{Name: "replication", Help: "How far each member is."},
				{Name: "human-readable", Help: "Show how long ago, instead of timestamps."},
			}}, nil,
			func(o *opt.Options) int { return env.onCluster(o, "command-config", env.describeQuorum) },
		},
	})
}

type quorumReplica = kmsg.DescribeQuorumResponseTopicPartitionReplicaState

// quorumView is the answer of the leader.
type quorumView struct {
	kmsg.DescribeQuorumResponseTopicPartition
	nodes []kmsg.DescribeQuorumResponseNode
}

func (env *Env) describeQuorum(ctx context.Context, c *cluster, o *opt.Options) error {
	switch o.Count("status", "replication") {
	case 0:
		return errors.New("One of --status or --replication must be specified with describe sub-command")
	case 2:
		return errors.New("Only one of --status or --replication should be specified with describe sub-command")
	}
	if o.Has("status") && o.Has("human-readable") {
		return errors.New("The option --human-readable is only supported along with --replication")
	}
	at, err := c.node(ctx)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrDescribeQuorumRequest()
	topic, part := kmsg.NewDescribeQuorumRequestTopic(), kmsg.NewDescribeQuorumRequestTopicPartition()
	topic.Topic, topic.Partitions = "__cluster_metadata", append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, at)
	if err != nil {
		return err
	}
	if err := answer(resp.ErrorCode, resp.ErrorMessage); err != nil {
		return err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return errors.New("the answer holds another partition than was asked for")
	}
	q := &quorumView{resp.Topics[0].Partitions[0], resp.Nodes}
	if err := answer(q.ErrorCode, q.ErrorMessage); err != nil {
		return err
	}
	if o.Has("replication") {
		env.printReplication(q, o.Has("human-readable"))
		return nil
	}
	nodes, err := c.describe(ctx, false)
	if err == nil {
		env.printQuorum(q, nodes.ClusterID)
	}
	return err
}

func (q *quorumView) leader() quorumReplica {
	for _, v := range q.CurrentVoters {
		if v.ReplicaID == q.LeaderID {
			return v
		}
	}
	return quorumReplica{
		ReplicaID: q.LeaderID, LogEndOffset: q.HighWatermark, LastFetchTimestamp: -1,
		LastCaughtUpTimestamp: -1,
	}
}

func (env *Env) printQuorum(q *quorumView, clusterID string) {
	leader := q.leader()
	slowest := leader
	for _, v := range q.CurrentVoters {
		if v.LogEndOffset < slowest.LogEndOffset {
			slowest = v
		}
	}
	lag := int64(0)
	switch {
	case slowest.ReplicaID == leader.ReplicaID:
	case slowest.LastCaughtUpTimestamp < 0 || leader.LastCaughtUpTimestamp < 0:
		lag = -1
	default:
		lag = leader.LastCaughtUpTimestamp - slowest.LastCaughtUpTimestamp
	}
	for _, line := range []struct {
		name  string
		value any
	}{
		{"ClusterId", clusterID},
		{"LeaderId", q.LeaderID},
		{"LeaderEpoch", q.LeaderEpoch},
		{"HighWatermark", q.HighWatermark},
		{"MaxFollowerLag", leader.LogEndOffset - slowest.LogEndOffset},
		{"MaxFollowerLagTimeMs", lag},
		{"CurrentVoters", q.members(q.CurrentVoters)},
		{"CurrentObservers", q.members(q.Observers)},
	} {
		fmt.Fprintf(env.Out, "%-24s%v\n", line.name+":", line.value)
	}
}

// members are ids with what else is known of them.
func (q *quorumView) members(list []quorumReplica) string {
	all := make([]string, len(list))
	for i, r := range list {
		var text strings.Builder
		fmt.Fprintf(&text, `{"id": %d`, r.ReplicaID)
		if id := meta.UUID(r.ReplicaDirectoryID); id != (meta.UUID{}) {
			fmt.Fprintf(&text, `, "directoryId": "%s"`, id)
		}
		for _, n := range q.nodes {
			if n.NodeID != r.ReplicaID || len(n.Listeners) == 0 {
				continue
			}
			var at []string
			for _, l := range n.Listeners {
				at = append(at, fmt.Sprintf(`"%s://%s"`, l.Name, net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port)))))
			}
			text.WriteString(`, "endpoints": [` + strings.Join(at, ", ") + "]")
		}
		all[i] = text.String() + "}"
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (env *Env) printReplication(q *quorumView, readable bool) {
	leader := q.leader()
	now := time.Now().UnixMilli()
	when := func(ms int64) string {
		if !readable || ms < 0 {
			return strconv.FormatInt(ms, 10)
		}
		return fmt.Sprintf("%d ms ago", max(now-ms, 0))
	}
	rows := [][]string{{
		"NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp",
		"LastCaughtUpTimestamp",
		"Status",
	}}
	add := func(r quorumReplica, status string) {
		rows = append(rows, []string{
			strconv.Itoa(int(r.ReplicaID)), meta.UUID(r.ReplicaDirectoryID).String(),
			strconv.FormatInt(r.LogEndOffset, 10), strconv.FormatInt(leader.LogEndOffset-r.LogEndOffset, 10),
			when(r.LastFetchTimestamp), when(r.LastCaughtUpTimestamp), status,
		})
	}
	add(leader, "Leader")
	for _, v := range q.CurrentVoters {
		if v.ReplicaID != leader.ReplicaID {
			add(v, "Follower")
		}
	}
	for _, v := range q.Observers {
		add(v, "Observer")
	}
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, r := range rows {
		for i, cell := range r {
			fmt.Fprintf(env.Out, "%-*s\t", widths[i], cell)
		}
		fmt.Fprintln(env.Out)
	}
}
