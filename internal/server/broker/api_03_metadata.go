package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveMetadata tells of brokers and topics. A topic that doesn't exist and may be made is made first.
func (b *Broker) serveMetadata(r *wire.Request) {
	req := kmsg.NewPtrMetadataRequest()
	if !r.Decode(req) {
		return
	}
	if !wellNamed(req) {
		r.Reply(refuseMetadata(req))
		return
	}
	if missing := b.creatable(req); len(missing) > 0 {
		b.autoCreate(missing, originOf(r), func() { r.Reply(b.metadata(r, req)) })
		return
	}
	r.Reply(b.metadata(r, req))
}

// wellNamed tells whether every topic of a request has a name and no id, or from version 12 on one of the
// two.
func wellNamed(req *kmsg.MetadataRequest) bool {
	for i := range req.Topics {
		named, byID := req.Topics[i].Topic != nil, req.Topics[i].TopicID != noID
		if !named && !byID || req.Version < 12 && (!named || byID) {
			return false
		}
	}
	return true
}

func refuseMetadata(req *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	resp := kmsg.NewPtrMetadataResponse()
	resp.ControllerID = -1
	for i := range req.Topics {
		t := kmsg.NewMetadataResponseTopic()
		name := ""
		if req.Topics[i].Topic != nil {
			name = *req.Topics[i].Topic
		}
		t.ErrorCode, t.Topic, t.TopicID = int16(kerr.InvalidRequest), &name, req.Topics[i].TopicID
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// creatable are the topics that a request names, that don't exist and that may be made now.
func (b *Broker) creatable(req *kmsg.MetadataRequest) []string {
	if !b.cfg.AutoCreateTopics || len(req.Topics) == 0 || req.Version >= 4 && !req.AllowAutoTopicCreation {
		return nil
	}
	img := b.Image()
	var names []string
	seen := map[string]bool{}
	for i := range req.Topics {
		name := req.Topics[i].Topic
		if name == nil || req.Topics[i].TopicID != noID || img.Topic(*name) != nil || badName(*name) != "" ||
			seen[*name] {
			continue
		}
		seen[*name] = true
		names = append(names, *name)
	}
	return names
}

func (b *Broker) metadata(r *wire.Request, req *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	img := b.Image()
	resp := kmsg.NewPtrMetadataResponse()
	list := b.nodes(img, r, false)
	for _, n := range list {
		k := kmsg.NewMetadataResponseBroker()
		k.NodeID, k.Host, k.Port, k.Rack = int32(n.id), n.host, n.port, n.rack
		resp.Brokers = append(resp.Brokers, k)
	}
	resp.ClusterID = &b.cfg.ClusterID
	resp.ControllerID = controllerFor(list, r)
	resp.AuthorizedOperations = notRequested
	if req.IncludeClusterAuthorizedOperations && r.Version >= 8 && r.Version <= 10 {
		resp.AuthorizedOperations = clusterOperations
	}
	v := &view{img: img, listener: r.Conn.Listener, version: r.Version}
	resp.Topics = v.topics(req)
	if req.IncludeTopicAuthorizedOperations {
		for i := range resp.Topics {
			if resp.Topics[i].Topic != nil {
				resp.Topics[i].AuthorizedOperations = topicOperations
			}
		}
	}
	return resp
}

// view is how one listener and version sees the topics of an image.
type view struct {
	img      *meta.Image
	listener string
	version  int16
}

func (v *view) topics(req *kmsg.MetadataRequest) []kmsg.MetadataResponseTopic {
	if req.Topics == nil || v.version == 0 && len(req.Topics) == 0 {
		list := make([]kmsg.MetadataResponseTopic, 0, v.img.TopicCount())
		for t := range v.img.Topics() {
			list = append(list, v.topic(t))
		}
		return list
	}
	byID := slices.ContainsFunc(req.Topics, func(t kmsg.MetadataRequestTopic) bool { return t.TopicID != noID })
	few := min(len(req.Topics), 1000) // of more, most may be repetitions
	list := make([]kmsg.MetadataResponseTopic, 0, few)
	seen := make(map[string]struct{}, few)
	for i := range req.Topics {
		q := &req.Topics[i]
		key := string(q.TopicID[:])
		if !byID {
			if q.Topic == nil {
				continue
			}
			key = *q.Topic
		} else if q.TopicID == noID {
			continue
		}
		if _, twice := seen[key]; twice {
			continue
		}
		seen[key] = struct{}{}
		if byID {
			list = append(list, v.topicByID(q.TopicID))
		} else {
			list = append(list, v.topicByName(*q.Topic))
		}
	}
	return list
}

func (v *view) topicByID(id meta.UUID) kmsg.MetadataResponseTopic {
	if t := v.img.TopicByID(id); t != nil {
		return v.topic(t)
	}
	e := kmsg.NewMetadataResponseTopic()
	e.ErrorCode, e.TopicID = int16(kerr.UnknownTopicID), id
	return e
}

func (v *view) topicByName(name string) kmsg.MetadataResponseTopic {
	if t := v.img.Topic(name); t != nil {
		return v.topic(t)
	}
	e := kmsg.NewMetadataResponseTopic()
	e.Topic, e.IsInternal = &name, isInternal(name)
	e.ErrorCode = int16(kerr.UnknownTopicOrPartition)
	if badName(name) != "" {
		e.ErrorCode = int16(kerr.InvalidTopicException)
	}
	return e
}

func (v *view) topic(t *meta.Topic) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID, out.IsInternal = &t.Name, t.ID, isInternal(t.Name)
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, len(t.Partitions))
	var ids []int32 // all lists of replicas, in one piece
	if len(t.Partitions) > 0 {
		ids = make([]int32, 0, 2*len(t.Partitions)*len(t.Partitions[0].Replicas))
	}
	for i, p := range t.Partitions {
		o := kmsg.NewMetadataResponseTopicPartition()
		o.Partition, o.LeaderEpoch = int32(i), p.LeaderEpoch
		o.Leader, o.ErrorCode = v.leader(p)
		ids, o.Replicas = v.reachable(ids, p.Replicas)
		ids, o.ISR = v.reachable(ids, p.ISR)
		o.OfflineReplicas = v.offline(p)
		if v.version == 0 && o.ErrorCode == 0 && len(o.Replicas)+len(o.ISR) < len(p.Replicas)+len(p.ISR) {
			o.ErrorCode = int16(kerr.ReplicaNotAvailable)
		}
		out.Partitions[i] = o
	}
	return out
}

// leader is the leader that clients can reach, or -1 and why there is none.
func (v *view) leader(p *meta.Partition) (int32, int16) {
	k := v.img.Broker(p.Leader)
	switch {
	case p.Leader == meta.NoNode || k == nil || k.Fenced:
		return -1, int16(kerr.LeaderNotAvailable)
	case endpoint(k, v.listener) != nil:
		return int32(p.Leader), 0
	case v.version >= 6:
		return -1, int16(kerr.ListenerNotFound)
	}
	return -1, int16(kerr.LeaderNotAvailable)
}

// reachable appends replicas to ids and returns that piece of it. Version 0 leaves out those that can't be
// reached.
func (v *view) reachable(ids []int32, replicas []meta.NodeID) (all, piece []int32) {
	from := len(ids)
	for _, id := range replicas {
		if v.version == 0 {
			if k := v.img.Broker(id); k == nil || k.Fenced || endpoint(k, v.listener) == nil {
				continue
			}
		}
		ids = append(ids, int32(id))
	}
	return ids, ids[from:len(ids):len(ids)]
}

// offline are the replicas whose broker is gone, fenced or not on this listener, or whose directory is lost.
func (v *view) offline(p *meta.Partition) []int32 {
	var list []int32
	for i, id := range p.Replicas {
		k := v.img.Broker(id)
		if k == nil || k.Fenced || endpoint(k, v.listener) == nil || i < len(p.Dirs) && !hasDir(k, p.Dirs[i]) {
			list = append(list, int32(id))
		}
	}
	return list
}

func hasDir(k *meta.Broker, dir meta.UUID) bool {
	return len(k.LogDirs) == 0 || dir == meta.DirMigrating || dir == meta.DirUnassigned ||
		slices.Contains(k.LogDirs, dir)
}
