package tool

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// resetRow is one offset that a reset sets.
type resetRow struct {
	group, topic string
	partition    int32
	offset       int64
}

func (g *groupsRun) reset(ctx context.Context) error {
	ids, err := g.ids(ctx)
	if err != nil {
		return err
	}
	var rows []resetRow
	for _, id := range ids {
		more, err := g.resetGroup(ctx, id)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if g.Has("export") {
		return g.export(rows, len(ids) > 1)
	}
	if g.Has("execute") {
		for _, id := range ids {
			if err := g.commit(ctx, id, rows); err != nil {
				return err
			}
		}
	}
	g.showReset(rows)
	return nil
}

// resetGroup plans one group's new offsets; a group with members has none.
func (g *groupsRun) resetGroup(ctx context.Context, id string) ([]resetRow, error) {
	views, err := g.views(ctx, []string{id})
	var f *failure
	switch {
	case errors.As(err, &f) && f.code == kerr.GroupIDNotFound.Code:
	case err != nil:
		return nil, err
	case views[0].state != "Empty" && views[0].state != "Dead":
		g.groupError("Assignments can only be reset if the group '%s' is inactive, but the current state is %s.",
			id, views[0].state)
		return nil, nil
	}
	committed, err := g.committed(ctx, id)
	if err != nil {
		return nil, err
	}
	if file := g.Or("from-file", ""); file != "" {
		return g.fromFile(ctx, file, id)
	}
	var scope topicPartitions
	if g.Has("all-topics") {
		scope = make(topicPartitions)
		for t, parts := range committed {
			for p := range parts {
				scope[t] = append(scope[t], p)
			}
		}
	} else if scope, err = g.partitionsOf(ctx, g.All("topic")); err != nil {
		return nil, err
	}
	if len(scope) == 0 {
		return nil, nil
	}
	bounds, err := g.bounds(ctx, scope)
	if err != nil {
		return nil, err
	}
	offsets, err := g.target(ctx, scope, committed, bounds)
	if err != nil {
		return nil, err
	}
	return toRows(id, scope, offsets), nil
}

func toRows(id string, scope topicPartitions, offsets map[string]map[int32]int64) []resetRow {
	var rows []resetRow
	for _, t := range scope.topics() {
		for _, p := range sorted(scope[t]) {
			rows = append(rows, resetRow{id, t, p, offsets[t][p]})
		}
	}
	return rows
}

// partitionsOf reads topic[:p,p] words; a topic alone stands for all its partitions.
func (g *groupsRun) partitionsOf(ctx context.Context, words []string) (topicPartitions, error) {
	scope := make(topicPartitions)
	var whole []string
	for _, word := range words {
		topic, list, some := strings.Cut(word, ":")
		if !some {
			whole = append(whole, topic)
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("Invalid topic arg '%s', expected either a topic name or a comma separated list "+
					"of partitions", word)
			}
			scope[topic] = append(scope[topic], int32(n))
		}
	}
	if len(whole) == 0 {
		return scope, nil
	}
	topics, err := g.admin.ListTopicsWithInternal(ctx, whole...)
	if err != nil {
		return nil, err
	}
	for _, name := range whole {
		t, ok := topics[name]
		if !ok || t.Err != nil {
			return nil, errUnknownTopic
		}
		scope[name] = t.Partitions.Numbers()
	}
	return scope, nil
}

// errUnknownTopic is the text of that error code, which this tool prints without its class.
var errUnknownTopic = errors.New(kerr.UnknownTopicOrPartition.Description)

// bound is the range of a partition's offsets.
type bound struct{ start, end int64 }

func (g *groupsRun) bounds(ctx context.Context, scope topicPartitions) (map[string]map[int32]bound, error) {
	topics := scope.topics()
	starts, err := g.admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, err
	}
	ends, err := g.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[int32]bound)
	var missing []string
	for _, t := range topics {
		all[t] = make(map[int32]bound)
		for _, p := range scope[t] {
			s, ok := starts.Lookup(t, p)
			e, ok2 := ends.Lookup(t, p)
			if !ok || !ok2 || s.Err != nil || e.Err != nil {
				missing = append(missing, fmt.Sprintf("%s-%d", t, p))
				continue
			}
			all[t][p] = bound{s.Offset, e.Offset}
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("The partitions \"%s\" do not exist", strings.Join(missing, ","))
	}
	return all, nil
}

// clamp keeps an offset in its partition's range, and says when it had to.
func (g *groupsRun) clamp(t string, p int32, offset int64, b bound) int64 {
	switch {
	case offset > b.end:
		fmt.Fprintf(g.Err, "WARN New offset (%d) is higher than latest offset for topic partition %s-%d. "+
			"Value will be set to %d\n", offset, t, p, b.end)
		return b.end
	case offset < b.start:
		fmt.Fprintf(g.Err, "WARN New offset (%d) is lower than earliest offset for topic partition %s-%d. "+
			"Value will be set to %d\n", offset, t, p, b.start)
		return b.start
	}
	return offset
}

// target computes the new offset of every partition in scope.
func (g *groupsRun) target(ctx context.Context, scope topicPartitions, committed map[string]map[int32]mark,
	bounds map[string]map[int32]bound,
) (map[string]map[int32]int64, error) {
	if g.Has("to-datetime", "by-duration") {
		at, err := g.instant()
		if err != nil {
			return nil, err
		}
		return g.since(ctx, at, scope, bounds)
	}
	pick, err := g.picker(committed)
	if err != nil {
		return nil, err
	}
	result := make(map[string]map[int32]int64)
	for t, parts := range scope {
		result[t] = make(map[int32]int64)
		for _, p := range parts {
			b := bounds[t][p]
			offset, err := pick(t, p, b)
			if err != nil {
				return nil, err
			}
			result[t][p] = g.clamp(t, p, offset, b)
		}
	}
	return result, nil
}

// picker returns the rule of the scenarios that need no request of their own.
func (g *groupsRun) picker(committed map[string]map[int32]mark) (func(string, int32, bound) (int64, error),
	error,
) {
	switch {
	case g.Has("to-earliest"):
		return func(_ string, _ int32, b bound) (int64, error) { return b.start, nil }, nil
	case g.Has("to-latest"):
		return func(_ string, _ int32, b bound) (int64, error) { return b.end, nil }, nil
	case g.Has("to-current"):
		return func(t string, p int32, b bound) (int64, error) {
			if m, ok := committed[t][p]; ok {
				return m.offset, nil
			}
			return b.end, nil
		}, nil
	case g.Has("to-offset"):
		to, err := g.Int64("to-offset", 0)
		return func(string, int32, bound) (int64, error) { return to, nil }, err
	}
	by, err := g.Int64("shift-by", 0)
	return func(t string, p int32, _ bound) (int64, error) {
		m, ok := committed[t][p]
		if !ok {
			return 0, fmt.Errorf("Cannot shift offset for partition %s-%d since there is no current committed offset",
				t, p)
		}
		if by > 0 && m.offset > math.MaxInt64-by {
			return math.MaxInt64, nil
		}
		return m.offset + by, nil
	}, err
}

// instant is the point in time that a reset goes back to, in milliseconds.
func (g *groupsRun) instant() (int64, error) {
	if g.Has("by-duration") {
		text, err := g.One("by-duration")
		if err != nil {
			return 0, err
		}
		d, err := parseDuration(text)
		return time.Now().UnixMilli() - d.Milliseconds(), err
	}
	text, err := g.One("to-datetime")
	if err != nil {
		return 0, err
	}
	return parseDatetime(text)
}

// parseDatetime reads YYYY-MM-DDThh:mm:ss.sss; without a zone it is UTC.
func parseDatetime(text string) (int64, error) {
	if !strings.Contains(text, "T") {
		return 0, errors.New("java.text.ParseException: Error parsing timestamp. " +
			"It does not contain a 'T' according to ISO8601 format")
	}
	for _, layout := range []string{
		"2006-01-02T15:04:05.000", "2006-01-02T15:04:05.000Z07:00",
		"2006-01-02T15:04:05.000Z0700", "2006-01-02T15:04:05.000Z07", "2006-01-02T15:04:05",
		"2006-01-02T15:04:05Z07:00",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("java.text.ParseException: Unparseable date: \"%s\"", text)
}

// parseDuration reads ISO 8601 durations of days, hours, minutes and seconds, as Java's Duration does.
func parseDuration(text string) (time.Duration, error) {
	re := regexp.MustCompile(`(?i)^([-+]?)P(?:([-+]?\d+)D)?` +
		`(T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:[.,]\d{0,9})?)S)?)?$`)
	m := re.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[4] == "" && m[5] == "" && m[6] == "" {
		return 0, errors.New("Text cannot be parsed to a Duration")
	}
	var total float64
	for _, part := range []struct {
		text string
		unit time.Duration
	}{{m[2], 24 * time.Hour}, {m[4], time.Hour}, {m[5], time.Minute}, {m[6], time.Second}} {
		if part.text != "" {
			n, err := strconv.ParseFloat(strings.ReplaceAll(part.text, ",", "."), 64)
			if err != nil {
				return 0, errors.New("Text cannot be parsed to a Duration")
			}
			total += n * float64(part.unit)
		}
	}
	if m[1] == "-" {
		total = -total
	}
	return time.Duration(total), nil
}

// since finds the first offset at or after a time; partitions without one go to their end.
func (g *groupsRun) since(ctx context.Context, at int64, scope topicPartitions,
	bounds map[string]map[int32]bound,
) (map[string]map[int32]int64, error) {
	found, err := timedOffsets(ctx, g.admin, scope, at)
	if err != nil {
		return nil, err
	}
	result := make(map[string]map[int32]int64)
	for _, t := range scope.topics() {
		result[t] = make(map[int32]int64)
		for _, p := range sorted(scope[t]) {
			offset, ok := found[t][p]
			if !ok {
				fmt.Fprintf(g.Out, "\nWarn: Partition %d from topic %s is empty. Falling back to latest known offset.\n",
					p, t)
				offset = bounds[t][p].end
			}
			result[t][p] = offset
		}
	}
	return result, nil
}

func timedOffsets(ctx context.Context, admin *kadm.Client, scope topicPartitions, at int64) (
	map[string]map[int32]int64, error,
) {
	listed, err := admin.ListOffsetsAfterMilli(ctx, at, scope.topics()...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[int32]int64)
	for t, parts := range scope {
		found[t] = make(map[int32]int64)
		for _, p := range parts {
			// The library fills in the end offset, with no timestamp, where no record is that young.
			if l, ok := listed.Lookup(t, p); ok && l.Err == nil && l.Timestamp >= 0 {
				found[t][p] = l.Offset
			}
		}
	}
	return found, nil
}

// fromFile reads topic,partition,offset lines, or group,topic,partition,offset ones when there are several
// groups.
func (g *groupsRun) fromFile(ctx context.Context, file, id string) ([]resetRow, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("java.io.IOException: Unable to read file %s", file)
	}
	r := csv.NewReader(strings.NewReader(string(data)))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("The CSV file %s is malformed: %w", file, err)
	}
	scope := make(topicPartitions)
	wanted := make(map[string]map[int32]int64)
	for n, line := range lines {
		if len(line) == 4 {
			if line[0] != id {
				continue
			}
			line = line[1:]
		}
		if len(line) != 3 {
			return nil, fmt.Errorf("Line %d of %s has %d fields: topic,partition,offset are expected", n+1, file,
				len(line))
		}
		p, err1 := strconv.ParseInt(strings.TrimSpace(line[1]), 10, 32)
		offset, err2 := strconv.ParseInt(strings.TrimSpace(line[2]), 10, 64)
		if err := firstOf(err1, err2); err != nil {
			return nil, fmt.Errorf("Line %d of %s: %w", n+1, file, err)
		}
		t := line[0]
		if wanted[t] == nil {
			wanted[t] = make(map[int32]int64)
		}
		if _, again := wanted[t][int32(p)]; !again {
			scope[t] = append(scope[t], int32(p))
		}
		wanted[t][int32(p)] = offset
	}
	if len(scope) == 0 {
		return nil, nil
	}
	bounds, err := g.bounds(ctx, scope)
	if err != nil {
		return nil, err
	}
	for t, parts := range wanted {
		for p, offset := range parts {
			wanted[t][p] = g.clamp(t, p, offset, bounds[t][p])
		}
	}
	return toRows(id, scope, wanted), nil
}

// commit stores one group's rows.
func (g *groupsRun) commit(ctx context.Context, id string, rows []resetRow) error {
	offsets := make(kadm.Offsets)
	for _, r := range rows {
		if r.group == id {
			offsets.AddOffset(r.topic, r.partition, r.offset, -1)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	resp, err := g.admin.CommitOffsets(ctx, id, offsets)
	if err != nil {
		return err
	}
	return resp.Error()
}

func (g *groupsRun) showReset(rows []resetRow) {
	group, topic := 15, 15
	for _, r := range rows {
		group, topic = max(group, len(r.group)), max(topic, len(r.topic))
	}
	fmt.Fprintf(g.Out, "\n%-*s %-*s %-10s %s\n", group, "GROUP", topic, "TOPIC", "PARTITION", "NEW-OFFSET")
	for _, r := range rows {
		fmt.Fprintf(g.Out, "%-*s %-*s %-10d %d\n", group, r.group, topic, r.topic, r.partition, r.offset)
	}
}

// export prints the plan as CSV, which --from-file reads.
func (g *groupsRun) export(rows []resetRow, several bool) error {
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].group < rows[j].group })
	for _, r := range rows {
		if several {
			fmt.Fprintf(g.Out, "%s,", csvText(r.group))
		}
		fmt.Fprintf(g.Out, "%s,%d,%d\n", csvText(r.topic), r.partition, r.offset)
	}
	fmt.Fprintln(g.Out)
	return nil
}

// csvText quotes as Apache's CSV library does: whatever is longer than 24 characters or holds one up to the
// comma.
func csvText(s string) string {
	quote := len(s) > 24
	for i := 0; i < len(s); i++ {
		quote = quote || s[i] <= ','
	}
	if !quote {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
