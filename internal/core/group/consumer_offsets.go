package group

import "github.com/kalda/kalda/internal/format/kerr"

// checkCommit says whether the member may commit (KIP-848, KIP-1251). What it consumed in an epoch before its
// present one counts, if it has had the partition since.
func (s *consumers) checkCommit(in *Commit) kerr.Code {
	if in.Generation < 0 && s.members.Len() == 0 {
		return kerr.None // an administrator, or a consumer that assigns itself
	}
	m := s.member(in.Member)
	switch {
	case m == nil:
		return kerr.UnknownMemberID
	case m.classic == nil && !in.Epochs:
		return kerr.UnsupportedVersion // the request can't say STALE_MEMBER_EPOCH
	case in.Generation == m.epoch:
		return kerr.None
	case in.Generation > m.epoch:
		return m.stale()
	}
	for i := range in.Offsets {
		p := part{in.Offsets[i].TopicID, in.Offsets[i].Partition}
		x, has := m.assigned.find(p)
		if !has {
			x, has = m.revoking.find(p)
		}
		if !has || x.epoch > in.Generation {
			return m.stale()
		}
	}
	return kerr.None
}

// stale is how the member's protocol calls it.
func (m *consumer) stale() kerr.Code {
	if m.classic != nil {
		return kerr.IllegalGeneration
	}
	return kerr.StaleMemberEpoch
}

func (s *consumers) checkFetch(in *Fetch) kerr.Code {
	if in.Member == "" && in.MemberEpoch < 0 {
		return kerr.None
	}
	m := s.member(in.Member)
	switch {
	case m == nil:
		return kerr.UnknownMemberID
	case in.MemberEpoch != m.epoch:
		return m.stale()
	}
	return kerr.None
}
