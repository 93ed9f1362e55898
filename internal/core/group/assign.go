package group

import (
	"cmp"
	"slices"
)

// The assignors of the consumer protocol (broker.md 6.5). They are functions of what they are given: the same
// spec gives the same assignment on every node, and what a member had stays with it as far as balance allows.

// assignTopic is a topic that exists.
type assignTopic struct {
	id UUID
	n  int32 // partitions
}

// assignMember is one that wants partitions.
type assignMember struct {
	id       string
	instance *string
	topics   []int // of the spec's, in order
	had      parts
}

// assignSpec has topics by id and members by id.
type assignSpec struct {
	topics  []assignTopic
	members []assignMember
}

// assignor gives parts to every member of the spec, by index.
type assignor func(*assignSpec) []parts

var assignors = map[string]assignor{"uniform": assignUniform, "range": assignRange}

// assignRange gives each member neighbouring partitions of each topic, so that topics with as many partitions
// and the same subscribers are assigned alike: their partitions can be joined.
func assignRange(s *assignSpec) []parts {
	out := make([]parts, len(s.members))
	order := make([]int, len(s.members))
	for i := range order {
		order[i] = i
	}
	name := func(i int) string {
		if m := &s.members[i]; m.instance != nil {
			return *m.instance // keeps its place when the member comes back with another id
		}
		return s.members[i].id
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(name(a), name(b)) })
	subscribers := make([][]int, len(s.topics))
	for _, i := range order {
		for _, t := range s.members[i].topics {
			subscribers[t] = append(subscribers[t], i)
		}
	}
	for t, topic := range s.topics {
		if len(subscribers[t]) == 0 {
			continue
		}
		each, extra := topic.n/int32(len(subscribers[t])), topic.n%int32(len(subscribers[t]))
		next := int32(0)
		for i, m := range subscribers[t] {
			n := each
			if int32(i) < extra {
				n++
			}
			for ; n > 0; n-- {
				out[m] = append(out[m], part{topic.id, next})
				next++
			}
		}
	}
	return out
}

// assignUniform gives all members as many partitions as the others, as far as their subscriptions allow.
func assignUniform(s *assignSpec) []parts {
	for i := 1; i < len(s.members); i++ {
		if !slices.Equal(s.members[i].topics, s.members[0].topics) {
			return newBalance(s).run()
		}
	}
	if len(s.members) == 0 {
		return nil
	}
	return assignAlike(s)
}

// assignAlike is for members that all want the same: everybody keeps what it had up to its share, and the
// others get theirs from what is left.
func assignAlike(s *assignSpec) []parts {
	total := 0
	for _, t := range s.members[0].topics {
		total += int(s.topics[t].n)
	}
	share, extra := total/len(s.members), total%len(s.members)
	out := make([]parts, len(s.members))
	taken := make(map[part]bool, total)
	for i := range s.members {
		had := s.valid(i, taken)
		quota := share
		if len(had) > share && extra > 0 {
			quota++
			extra--
		}
		out[i] = slices.Clone(had[:min(len(had), quota)])
		for _, p := range out[i] {
			taken[p] = true
		}
	}
	var free parts
	for _, t := range s.members[0].topics {
		for n := range s.topics[t].n {
			if p := (part{s.topics[t].id, n}); !taken[p] {
				free = append(free, p)
			}
		}
	}
	for i := range out {
		quota := share
		if len(out[i]) <= share && extra > 0 {
			quota++
			extra--
		}
		n := min(max(quota-len(out[i]), 0), len(free))
		out[i] = append(out[i], free[:n]...)
		free = free[n:]
		slices.SortFunc(out[i], compareParts)
	}
	return out
}

// valid is what member i had, still wants, still exists, and isn't taken.
func (s *assignSpec) valid(i int, taken map[part]bool) parts {
	m := &s.members[i]
	var out parts
	at := 0
	for _, p := range m.had {
		for at < len(m.topics) && slices.Compare(s.topics[m.topics[at]].id[:], p.topic[:]) < 0 {
			at++
		}
		if at < len(m.topics) {
			if t := &s.topics[m.topics[at]]; t.id == p.topic && p.n < t.n && !taken[p] {
				out = append(out, p)
			}
		}
	}
	return out
}

// balance assigns to members that want different topics. Everybody keeps what it had, what is free goes to
// the subscriber with the least, and then partitions move from the rich to the poor until no topic has two
// subscribers that differ by more than one.
type balance struct {
	*assignSpec
	subscribers [][]int           // by topic
	own         []map[int][]int32 // by topic: the partitions of each member, in order
	load        []int             // by member
}

func newBalance(s *assignSpec) *balance {
	b := &balance{
		assignSpec: s, subscribers: make([][]int, len(s.topics)),
		own: make([]map[int][]int32, len(s.topics)), load: make([]int, len(s.members)),
	}
	index := make(map[UUID]int, len(s.topics))
	for t := range s.topics {
		b.own[t] = map[int][]int32{}
		index[s.topics[t].id] = t
	}
	taken := map[part]bool{}
	for i := range s.members {
		for _, t := range s.members[i].topics {
			b.subscribers[t] = append(b.subscribers[t], i)
		}
		for _, p := range s.valid(i, taken) {
			taken[p] = true
			b.give(index[p.topic], i, p.n)
		}
	}
	b.giveFree(taken)
	return b
}

func (b *balance) give(t, m int, n int32) {
	own := b.own[t][m]
	at, _ := slices.BinarySearch(own, n)
	b.own[t][m] = slices.Insert(own, at, n)
	b.load[m]++
}

// giveFree starts with topics that few want: those who want many can still be served by the others.
func (b *balance) giveFree(taken map[part]bool) {
	order := make([]int, len(b.topics))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(len(b.subscribers[x]), len(b.subscribers[y]))
	})
	for _, t := range order {
		if len(b.subscribers[t]) == 0 {
			continue
		}
		for n := range b.topics[t].n {
			if !taken[part{b.topics[t].id, n}] {
				b.give(t, b.poorest(t), n)
			}
		}
	}
}

func (b *balance) poorest(t int) int {
	return slices.MinFunc(b.subscribers[t], func(x, y int) int { return cmp.Compare(b.load[x], b.load[y]) })
}

// richest is the subscriber with the most of those that have a partition of t, -1 if none has.
func (b *balance) richest(t int) int {
	rich := -1
	for _, m := range b.subscribers[t] {
		if len(b.own[t][m]) > 0 && (rich < 0 || b.load[m] > b.load[rich]) {
			rich = m
		}
	}
	return rich
}

// run moves partitions while that makes a difference smaller; each move does, so it ends. The largest
// differences go first: who is close to balance shouldn't give away what it would get back from others.
func (b *balance) run() []parts {
	for least := b.widest(); least >= 2; least = b.widest() {
		least = max(2, (least*7+7)/8)
		for t := range b.topics {
			for len(b.subscribers[t]) > 1 {
				rich, poor := b.richest(t), b.poorest(t)
				if rich < 0 || b.load[rich]-b.load[poor] < least {
					break
				}
				own := b.own[t][rich]
				n := own[len(own)-1]
				b.own[t][rich] = own[:len(own)-1]
				b.load[rich]--
				b.give(t, poor, n)
			}
		}
	}
	out := make([]parts, len(b.members))
	for t := range b.topics {
		for _, m := range b.subscribers[t] {
			for _, n := range b.own[t][m] {
				out[m] = append(out[m], part{b.topics[t].id, n})
			}
		}
	}
	return out
}

// widest is the largest difference between two subscribers of a topic.
func (b *balance) widest() (most int) {
	for t := range b.topics {
		if rich := b.richest(t); rich >= 0 {
			most = max(most, b.load[rich]-b.load[b.poorest(t)])
		}
	}
	return most
}
