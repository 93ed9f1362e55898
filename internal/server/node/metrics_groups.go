package node

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/obs"
)

const groupMetrics = "kafka_server_group_coordinator_metrics_"

// scrapeGroups is how long a scrape waits for shards that are busy; what they have is missing then.
const scrapeGroups = time.Second

// registerGroups shows what the group coordinator does and has. Groups are counted when somebody asks: that
// costs a look at each, and nothing in between.
func (n *Node) registerGroups() {
	shards := gauge(groupMetrics+"partition_count", "Partitions of __consumer_offsets led here.", "state")
	loaded := counter(groupMetrics+"loaded_records_total", "Records read when partitions were taken over.")
	failed := counter(groupMetrics+"append_failures_total", "Batches that the log refused.")
	n.reg.OnScrape(func(emit func(obs.Sample)) {
		m := &n.groups.Metrics
		for _, s := range []struct {
			name  string
			value *obs.Gauge
		}{{"loading", &m.Loading}, {"active", &m.Active}, {"failed", &m.Failed}} {
			emit(obs.Sample{Desc: shards, Values: []string{s.name}, Value: float64(s.value.Load())})
		}
		emit(obs.Sample{Desc: loaded, Value: float64(m.LoadedRecords.Load())})
		emit(obs.Sample{Desc: failed, Value: float64(m.AppendFailures.Load())})
	})
	types := gauge(groupMetrics+"group_count", "Groups, by the protocol they are of.", "protocol")
	classic := gauge(groupMetrics+"classic_group_count", "Groups of the classic protocol, by state.", "state")
	consumer := gauge(groupMetrics+"consumer_group_count", "Groups of the consumer protocol, by state.", "state")
	n.reg.OnScrape(func(emit func(obs.Sample)) {
		kinds := map[string]float64{"classic": 0, "consumer": 0}
		states := map[*obs.Desc]map[string]float64{classic: {}, consumer: {}}
		for _, g := range n.listGroups() {
			kinds[g.Type]++
			switch g.Type {
			case "classic":
				states[classic][strings.ToLower(g.State)]++
			case "consumer":
				states[consumer][strings.ToLower(g.State)]++
			}
		}
		for _, k := range slices.Sorted(maps.Keys(kinds)) {
			emit(obs.Sample{Desc: types, Values: []string{k}, Value: kinds[k]})
		}
		for _, d := range []*obs.Desc{classic, consumer} {
			for _, s := range slices.Sorted(maps.Keys(states[d])) {
				emit(obs.Sample{Desc: d, Values: []string{s}, Value: states[d][s]})
			}
		}
	})
}

func (n *Node) listGroups() []group.ListedGroup {
	listed := make(chan []group.ListedGroup, 1) // whoever is late finds room, and nobody
	n.groups.List(&group.List{}, func(l *group.Listed) { listed <- l.Groups })
	select {
	case all := <-listed:
		return all
	case <-time.After(scrapeGroups):
		return nil
	}
}
