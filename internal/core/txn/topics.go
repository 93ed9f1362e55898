package txn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/record"
)

func byTopic(t record.TxnTopic, name string) int { return strings.Compare(t.Topic, name) }

// sorted is topics in order, each once, with their partitions in order.
func sorted(topics []record.TxnTopic) []record.TxnTopic { return union(nil, topics) }

// union is all partitions of both; nothing of a is changed.
func union(a, b []record.TxnTopic) []record.TxnTopic {
	out := slices.Clone(a)
	for _, t := range b {
		i, found := slices.BinarySearchFunc(out, t.Topic, byTopic)
		if !found {
			out = slices.Insert(out, i, record.TxnTopic{Topic: t.Topic})
		}
		all := slices.Concat(out[i].Partitions, t.Partitions)
		slices.Sort(all)
		out[i].Partitions = slices.Compact(all)
	}
	return out
}

// without is what of topics isn't in the sorted a.
func without(topics, a []record.TxnTopic) (missing []record.TxnTopic) {
	for _, t := range topics {
		var have []int32
		if i, found := slices.BinarySearchFunc(a, t.Topic, byTopic); found {
			have = a[i].Partitions
		}
		lacks := record.TxnTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			if _, found := slices.BinarySearchFunc(have, p, cmp.Compare[int32]); !found {
				lacks.Partitions = append(lacks.Partitions, p)
			}
		}
		if len(lacks.Partitions) > 0 {
			missing = append(missing, lacks)
		}
	}
	return missing
}
