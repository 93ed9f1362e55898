package record

import (
	"bytes"
	"testing"
)

func FuzzControl(f *testing.F) {
	f.Add((&LeaderChange{Leader: 1, Voters: []ReplicaKey{{ID: 1}}, Grants: []ReplicaKey{{ID: 1}}}).Encode())
	f.Add((&LeaderChange{Version: 1, Leader: 1, Voters: []ReplicaKey{{ID: 1, Dir: [16]byte{1}}}}).Encode())
	f.Add(EncodeKRaftVoters([]Voter{{
		ReplicaKey: ReplicaKey{ID: 3, Dir: [16]byte{9}}, Endpoints: []VoterEndpoint{{"CONTROLLER", "host", 9093}},
		MaxVersion: 1,
	}}))
	f.Add(EncodeKRaftVersion(1))
	f.Add(EncodeSnapshotHeader(1))
	f.Add(EncodeSnapshotFooter())
	f.Fuzz(func(t *testing.T, b []byte) {
		// What decodes and has no unknown tags is what encoding makes; nothing panics.
		if m, err := DecodeLeaderChange(b); err == nil && m.Version >= 0 {
			if _, err := DecodeLeaderChange(m.Encode()); err != nil {
				t.Error(err)
			}
		}
		if v, err := DecodeKRaftVoters(b); err == nil {
			again := EncodeKRaftVoters(v)
			if w, err := DecodeKRaftVoters(again); err != nil || !bytes.Equal(EncodeKRaftVoters(w), again) {
				t.Error(err)
			}
		}
		_, _ = DecodeKRaftVersion(b)
		_, _ = DecodeSnapshotHeader(b)
		_, _ = DecodeControlKey(b)
	})
}
