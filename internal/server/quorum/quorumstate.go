package quorum

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/kalda/kalda/internal/core/kraft"
)

// encodeElection is the quorum-state file: kraft.md 1.3. Its form follows the finalized kraft.version.
func encodeElection(e *kraft.Election) []byte {
	var b []byte
	number := func(key string, v int64) {
		b = append(b, key...)
		b = strconv.AppendInt(b, v, 10)
	}
	if e.Version >= 1 {
		number(`{"leaderId":`, int64(e.Leader))
		number(`,"leaderEpoch":`, int64(e.Epoch))
		number(`,"votedId":`, int64(e.Voted.ID))
		b = append(b, `,"votedDirectoryId":"`...)
		b = base64.RawURLEncoding.AppendEncode(b, e.Voted.Dir[:])
		return append(b, `","data_version":1}`...)
	}
	number(`{"clusterId":"","leaderId":`, int64(e.Leader))
	number(`,"leaderEpoch":`, int64(e.Epoch))
	number(`,"votedId":`, int64(e.Voted.ID))
	b = append(b, `,"appliedOffset":0,"currentVoters":[`...)
	for i, id := range e.Voters {
		if i > 0 {
			b = append(b, ',')
		}
		number(`{"voterId":`, int64(id))
		b = append(b, '}')
	}
	return append(b, `],"data_version":0}`...)
}

// quorumStateJSON has a pointer for what must be there.
type quorumStateJSON struct {
	LeaderID    *kraft.ID    `json:"leaderId"`
	LeaderEpoch *kraft.Epoch `json:"leaderEpoch"`
	VotedID     *kraft.ID    `json:"votedId"`
	VotedDir    string       `json:"votedDirectoryId"`
	DataVersion *int16       `json:"data_version"`
}

// decodeElection reads both forms. A file that can't be read is an error, never an empty one: it may hold a
// vote.
func decodeElection(b []byte) (kraft.Election, error) {
	var s quorumStateJSON
	e := kraft.Election{Leader: kraft.NoID, Voted: kraft.Key{ID: kraft.NoID}}
	if err := json.Unmarshal(b, &s); err != nil {
		return e, err
	}
	if s.LeaderID == nil || s.LeaderEpoch == nil || s.VotedID == nil || s.DataVersion == nil {
		return e, fmt.Errorf("a field is missing")
	}
	if *s.DataVersion < 0 || *s.DataVersion > 1 {
		return e, fmt.Errorf("data_version %d isn't known", *s.DataVersion)
	}
	if *s.LeaderEpoch < 0 || *s.LeaderID < -1 || *s.VotedID < -1 {
		return e, fmt.Errorf("a negative epoch or id")
	}
	e.Leader, e.Epoch, e.Voted.ID, e.Version = *s.LeaderID, *s.LeaderEpoch, *s.VotedID, *s.DataVersion
	if s.VotedDir != "" {
		dir, err := base64.RawURLEncoding.DecodeString(s.VotedDir)
		if err != nil || len(dir) != len(e.Voted.Dir) {
			return e, fmt.Errorf("votedDirectoryId %q isn't a UUID", s.VotedDir)
		}
		copy(e.Voted.Dir[:], dir)
	}
	return e, nil
}
