package ztree

import "math"

// What a node is stands in the number of its owner, in memory as on disk: 0 is persistent, containerOwner a
// container, a number that begins with ff (when extended types are on) a node with a time to live, any other
// a session's.
const (
	containerOwner int64 = math.MinInt64
	ttlOwner       int64 = -1 << 56     // ff00000000000000
	maxTTL         int64 = 1<<40 - 1    // what stands in an owner of that form
	max353TTL      int64 = 1<<60 - 1    // and in one of the form of 3.5.3
	reserved             = 0xffff << 40 // bits that are 0 in the first form
)

// kinds reads owners, as the configuration says.
type kinds struct{ extended, emulate353 bool }

// ttl is the time to live of a TTL node, in ms.
func (k *kinds) ttl(owner int64) (int64, bool) {
	switch {
	case !k.extended || owner >= 0 || owner == containerOwner:
		return 0, false
	case owner >= ttlOwner && owner&reserved == 0:
		return owner & maxTTL, true
	case k.emulate353:
		return owner & max353TTL, true
	}
	return 0, false
}

// session is the session that owns an ephemeral, 0 for any other kind.
func (k *kinds) session(owner int64) SessionID {
	if owner == 0 || owner == containerOwner {
		return 0
	}
	if _, ttl := k.ttl(owner); ttl {
		return 0
	}
	return SessionID(owner)
}

// reapable says whether the node may go by itself: a container or one with a time to live.
func (k *kinds) reapable(owner int64) bool { return owner != 0 && k.session(owner) == 0 }

// validTTL says whether a node may have that time to live.
func validTTL(ttl int64) bool { return ttl > 0 && ttl <= maxTTL }
