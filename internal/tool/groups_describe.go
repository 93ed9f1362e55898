package tool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// groupView is a group as --describe shows it, of either protocol.
type groupView struct {
	id, state, assignor string
	coordinator         string
	epoch, targetEpoch  string
	members             []memberView
	mixed               bool // members of both protocols
}

type memberView struct {
	id, instance, client, host string
	epoch, targetEpoch         string
	assigned, target           topicPartitions
	hasTarget, upgraded        bool
}

func (m *memberView) count() int {
	n := 0
	for _, p := range m.assigned {
		n += len(p)
	}
	return n
}

func (g *groupsRun) describe(ctx context.Context) error {
	ids, err := g.ids(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	views, err := g.views(ctx, ids)
	if err != nil {
		return err
	}
	sort.Slice(views, func(i, j int) bool { return views[i].id < views[j].id })
	for i := range views {
		v := &views[i]
		switch {
		case g.Has("members"):
			g.showMembers(v)
		case g.Has("state"):
			g.showState(v)
		default:
			if err := g.showOffsets(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// views asks with the new protocol's request first; classic groups and older brokers answer the other one.
func (g *groupsRun) views(ctx context.Context, ids []string) ([]groupView, error) {
	var views []groupView
	classic := ids
	if described, err := g.admin.DescribeConsumerGroups(ctx, ids...); err == nil || len(described) > 0 {
		classic = nil
		for _, id := range ids {
			d, ok := described[id]
			if !ok || d.Err != nil {
				classic = append(classic, id)
				continue
			}
			views = append(views, consumerView(&d))
		}
	}
	if len(classic) == 0 {
		return views, nil
	}
	described, err := g.admin.DescribeGroups(ctx, classic...)
	if err != nil && len(described) == 0 {
		return nil, err
	}
	for _, id := range classic {
		d, ok := described[id]
		switch {
		case !ok:
			return nil, fmt.Errorf("Group %s not found.", id)
		case d.Err != nil:
			return nil, describeFailure(&d)
		case d.State == "Dead" && len(d.Members) == 0:
			return nil, &failure{code: kerr.GroupIDNotFound.Code, message: "Group " + id + " not found."}
		}
		views = append(views, classicView(&d))
	}
	return views, nil
}

func describeFailure(d *kadm.DescribedGroup) error {
	if k, ok := errors.AsType[*kerr.Error](d.Err); ok {
		return &failure{code: k.Code, message: d.ErrMessage}
	}
	return d.Err
}

func coordinatorText(b kadm.BrokerDetail) string {
	return fmt.Sprintf("%s  (%d)", net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))), b.NodeID)
}

func classicView(d *kadm.DescribedGroup) groupView {
	v := groupView{
		id: d.Group, state: d.State, assignor: d.Protocol,
		coordinator: coordinatorText(d.Coordinator),
		epoch:       "-", targetEpoch: "-",
	}
	for _, m := range d.Members {
		view := memberView{
			id: m.MemberID, client: m.ClientID, host: m.ClientHost, epoch: "-", targetEpoch: "-",
			assigned: make(topicPartitions),
		}
		if m.InstanceID != nil {
			view.instance = *m.InstanceID
		}
		if a, ok := m.Assigned.AsConsumer(); ok {
			for _, t := range a.Topics {
				view.assigned[t.Topic] = sorted(t.Partitions)
			}
		}
		v.members = append(v.members, view)
	}
	return v
}

func consumerView(d *kadm.DescribedConsumerGroup) groupView {
	v := groupView{
		id: d.Group, state: d.State, assignor: d.AssignorName,
		coordinator: coordinatorText(d.Coordinator),
		epoch:       strconv.Itoa(int(d.Epoch)), targetEpoch: strconv.Itoa(int(d.AssignmentEpoch)),
	}
	classic := 0
	for _, m := range d.Members {
		view := memberView{
			id: m.MemberID, client: m.ClientID, host: m.ClientHost,
			epoch: strconv.Itoa(int(m.MemberEpoch)), targetEpoch: v.targetEpoch, hasTarget: true,
			assigned: make(topicPartitions), target: make(topicPartitions), upgraded: m.MemberType == 1,
		}
		if m.InstanceID != nil {
			view.instance = *m.InstanceID
		}
		if m.MemberType == 0 {
			classic++
		}
		for t, set := range m.Assignment {
			for p := range set {
				view.assigned[t] = append(view.assigned[t], p)
			}
			view.assigned[t] = sorted(view.assigned[t])
		}
		for t, set := range m.TargetAssignment {
			for p := range set {
				view.target[t] = append(view.target[t], p)
			}
			view.target[t] = sorted(view.target[t])
		}
		v.members = append(v.members, view)
	}
	v.mixed = classic > 0 && classic < len(d.Members)
	return v
}

func sorted(p []int32) []int32 {
	slices.Sort(p)
	return p
}

// note says on standard error what is special about a group's state.
func (g *groupsRun) note(v *groupView) {
	switch v.state {
	case "Dead":
		g.groupError("Consumer group '%s' does not exist.", v.id)
	case "Empty":
		fmt.Fprintf(g.Err, "\nConsumer group '%s' has no active members.\n", v.id)
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		fmt.Fprintf(g.Err, "\nWarning: Consumer group '%s' is rebalancing.\n", v.id)
	}
}

// offsetRow is one line of the offsets table.
type offsetRow struct {
	topic, partition, epoch, current, end, lag string
	member, host, client                       string
}

func (g *groupsRun) showOffsets(ctx context.Context, v *groupView) error {
	rows, err := g.offsetRows(ctx, v)
	if err != nil {
		return err
	}
	g.note(v)
	if v.state == "Dead" || len(rows) == 0 {
		return nil
	}
	group, topic, member, host := max(15, len(v.id)), 15, 15, 15
	for i := range rows {
		topic, member, host = max(topic, len(rows[i].topic)), max(member, len(rows[i].member)), max(host,
			len(rows[i].host))
	}
	line := func(id string, r offsetRow) {
		fmt.Fprintf(g.Out, "%-*s %-*s %-10s", group, id, topic, r.topic, r.partition)
		if g.Has("verbose") {
			fmt.Fprintf(g.Out, " %-15s", r.epoch)
		}
		fmt.Fprintf(g.Out, " %-15s %-15s %-15s %-*s %-*s %s\n", r.current, r.end, r.lag,
			member, r.member, host, r.host, r.client)
	}
	fmt.Fprintln(g.Out)
	line("GROUP", offsetRow{
		"TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
		"CONSUMER-ID", "HOST", "CLIENT-ID",
	})
	for _, r := range rows {
		line(v.id, r)
	}
	return nil
}

// offsetRows gives a row to every assigned partition, member by member, and then to every other committed
// one.
func (g *groupsRun) offsetRows(ctx context.Context, v *groupView) ([]offsetRow, error) {
	committed, err := g.committed(ctx, v.id)
	if err != nil {
		return nil, err
	}
	topics := make(map[string]bool)
	free := make(topicPartitions)
	for t, parts := range committed {
		topics[t] = true
		for p := range parts {
			free[t] = append(free[t], p)
		}
	}
	members := append([]memberView(nil), v.members...)
	sort.SliceStable(members, func(i, j int) bool { return members[i].count() > members[j].count() })
	for i := range members {
		for t, parts := range members[i].assigned {
			topics[t] = true
			free[t] = without(free[t], parts)
		}
	}
	names := make([]string, 0, len(topics))
	for t := range topics {
		names = append(names, t)
	}
	ends, err := g.ends(ctx, names)
	if err != nil {
		return nil, err
	}
	var rows []offsetRow
	for i := range members {
		m := &members[i]
		if m.count() == 0 {
			rows = append(rows, offsetRow{"-", "-", "-", "-", "-", "-", m.id, m.host, m.client})
		}
		for _, t := range m.assigned.topics() {
			for _, p := range m.assigned[t] {
				rows = append(rows, offsetLine(t, p, committed, ends, m))
			}
		}
	}
	nobody := &memberView{id: "-", host: "-", client: "-"}
	for _, t := range free.topics() {
		for _, p := range sorted(free[t]) {
			rows = append(rows, offsetLine(t, p, committed, ends, nobody))
		}
	}
	return rows, nil
}

func without(from, gone []int32) []int32 {
	var left []int32
	for _, p := range from {
		keep := true
		for _, q := range gone {
			keep = keep && p != q
		}
		if keep {
			left = append(left, p)
		}
	}
	return left
}

// mark is a committed offset.
type mark struct {
	offset int64
	epoch  int32
}

// committed returns a group's offsets, without the partitions that have none.
func (g *groupsRun) committed(ctx context.Context, group string) (map[string]map[int32]mark, error) {
	fetched, err := g.admin.FetchOffsets(ctx, group)
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[int32]mark)
	for topic, parts := range fetched {
		for p, o := range parts {
			if o.Err != nil || o.At < 0 {
				continue
			}
			if all[topic] == nil {
				all[topic] = make(map[int32]mark)
			}
			all[topic][p] = mark{o.At, o.LeaderEpoch}
		}
	}
	return all, nil
}

// ends returns the end offsets of topics; partitions that cannot be asked are missing.
func (g *groupsRun) ends(ctx context.Context, topics []string) (map[string]map[int32]int64, error) {
	ends := make(map[string]map[int32]int64)
	if len(topics) == 0 {
		return ends, nil
	}
	listed, err := g.admin.ListEndOffsets(ctx, topics...)
	if err != nil && len(listed) == 0 {
		return nil, err
	}
	for topic, parts := range listed {
		ends[topic] = make(map[int32]int64)
		for p, l := range parts {
			if l.Err == nil {
				ends[topic][p] = l.Offset
			}
		}
	}
	return ends, nil
}

func offsetLine(t string, p int32, committed map[string]map[int32]mark, ends map[string]map[int32]int64,
	m *memberView,
) offsetRow {
	r := offsetRow{t, strconv.Itoa(int(p)), "-", "-", "-", "-", m.id, m.host, m.client}
	at, has := committed[t][p]
	end, known := ends[t][p]
	if has {
		r.current = strconv.FormatInt(at.offset, 10)
		if at.epoch >= 0 {
			r.epoch = strconv.Itoa(int(at.epoch))
		}
	}
	if known {
		r.end = strconv.FormatInt(end, 10)
	}
	if has && known {
		r.lag = strconv.FormatInt(end-at.offset, 10)
	}
	return r
}

func assignmentText(a topicPartitions) string {
	if len(a) == 0 {
		return "-"
	}
	var parts []string
	for _, t := range a.topics() {
		parts = append(parts, t+":"+commas(a[t]))
	}
	return strings.Join(parts, ";")
}

func (g *groupsRun) showMembers(v *groupView) {
	g.note(v)
	if v.state == "Dead" {
		return
	}
	group, member, instance, host, client := 15, 15, 17, 15, 15
	static := false
	for i := range v.members {
		m := &v.members[i]
		group = max(group, len(v.id))
		member, instance = max(member, len(m.id)), max(instance, len(m.instance))
		host, client = max(host, len(m.host)), max(client, len(m.client))
		static = static || m.instance != ""
	}
	verbose := g.Has("verbose")
	line := func(id, count string, m memberView, assigned, target, upgraded string) {
		fmt.Fprintf(g.Out, "%-*s %-*s ", group, id, member, m.id)
		if static {
			fmt.Fprintf(g.Out, "%-*s ", instance, m.instance)
		}
		fmt.Fprintf(g.Out, "%-*s %-*s %-15s ", host, m.host, client, m.client, count)
		if verbose {
			fmt.Fprintf(g.Out, "%-15s %-20s %-15s %-20s", m.epoch, assigned, m.targetEpoch, target)
			if v.mixed {
				fmt.Fprintf(g.Out, " %s", upgraded)
			}
		}
		fmt.Fprintln(g.Out)
	}
	fmt.Fprintln(g.Out)
	line("GROUP", "#PARTITIONS", memberView{
		id: "CONSUMER-ID", instance: "GROUP-INSTANCE-ID", host: "HOST",
		client: "CLIENT-ID", epoch: "CURRENT-EPOCH", targetEpoch: "TARGET-EPOCH",
	},
		"CURRENT-ASSIGNMENT", "TARGET-ASSIGNMENT", "UPGRADED")
	for _, m := range v.members {
		target := "-"
		if m.hasTarget {
			target = assignmentText(m.target)
		}
		line(v.id, strconv.Itoa(m.count()), m, assignmentText(m.assigned), target, strconv.FormatBool(m.upgraded))
	}
}

func (g *groupsRun) showState(v *groupView) {
	g.note(v)
	if v.state == "Dead" {
		return
	}
	group, coordinator := max(15, len(v.id)), max(25, len(v.coordinator))
	line := func(id, coord, assignor, state, epoch, target, members string) {
		fmt.Fprintf(g.Out, "%-*s %-*s %-20s %-20s ", group, id, coordinator, coord, assignor, state)
		if g.Has("verbose") {
			fmt.Fprintf(g.Out, "%-15s %-25s ", epoch, target)
		}
		fmt.Fprintln(g.Out, members)
	}
	assignor := v.assignor
	if assignor == "" {
		assignor = "-"
	}
	fmt.Fprintln(g.Out)
	line("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH",
		"#MEMBERS")
	line(v.id, v.coordinator, assignor, v.state, v.epoch, v.targetEpoch, strconv.Itoa(len(v.members)))
}
