package kraft

import "slices"

// voterHistory is the voter sets and kraft.versions that the log holds, so that a truncation can go back.
type voterHistory struct {
	static   []Voter
	sets     []votersAt
	versions []versionAt
}

type votersAt struct {
	offset Offset
	voters []Voter
}

type versionAt struct {
	offset  Offset
	version int16
}

func (h *voterHistory) add(control []Control) {
	for _, c := range control {
		if c.Voters != nil {
			h.sets = append(h.sets, votersAt{c.Offset, c.Voters})
		}
		if c.Version >= 0 {
			h.versions = append(h.versions, versionAt{c.Offset, c.Version})
		}
	}
}

// truncate forgets what was at or after to.
func (h *voterHistory) truncate(to Offset) {
	h.sets = slices.DeleteFunc(h.sets, func(v votersAt) bool { return v.offset >= to })
	h.versions = slices.DeleteFunc(h.versions, func(v versionAt) bool { return v.offset >= to })
}

// trim forgets all but the newest of those below start: nothing below start can be truncated.
func (h *voterHistory) trim(start Offset) {
	for len(h.sets) > 1 && h.sets[1].offset < start {
		h.sets = h.sets[1:]
	}
	for len(h.versions) > 1 && h.versions[1].offset < start {
		h.versions = h.versions[1:]
	}
}

// reset replaces everything by what a snapshot holds.
func (h *voterHistory) reset(control []Control) {
	h.sets, h.versions = nil, nil
	h.add(control)
}

// version is the newest kraft.version, committed or not.
func (h *voterHistory) version() int16 {
	if n := len(h.versions); n > 0 {
		return h.versions[n-1].version
	}
	return 0
}

// latest is the voter set in force, which is the newest one even while uncommitted, and where it stands in
// the log.
func (h *voterHistory) latest() ([]Voter, Offset) {
	if n := len(h.sets); n > 0 && (h.version() >= 1 || len(h.static) == 0) {
		return h.sets[n-1].voters, h.sets[n-1].offset
	}
	return h.static, NoOffset
}

// at is what the log below end says.
func (h *voterHistory) at(end Offset) (voters []Voter, version int16) {
	for _, s := range h.sets {
		if s.offset < end {
			voters = s.voters
		}
	}
	for _, v := range h.versions {
		if v.offset < end {
			version = v.version
		}
	}
	return voters, version
}

// matches says that k may be the voter v: a voter without a known directory is anybody of its id.
func matches(v *Voter, k Key) bool { return v.ID == k.ID && (v.Dir == [16]byte{} || v.Dir == k.Dir) }

func findVoter(voters []Voter, k Key) *Voter {
	for i := range voters {
		if matches(&voters[i], k) {
			return &voters[i]
		}
	}
	return nil
}

func voterByID(voters []Voter, id ID) *Voter {
	for i := range voters {
		if voters[i].ID == id {
			return &voters[i]
		}
	}
	return nil
}

func endpointOf(ends []Endpoint, listener string) (Endpoint, bool) {
	for _, e := range ends {
		if e.Name == listener {
			return e, true
		}
	}
	return Endpoint{}, false
}
