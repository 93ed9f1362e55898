package record

import "encoding/binary"

// VoterEndpoint is where a voter listens under one controller listener name (upper case).
type VoterEndpoint struct {
	Name, Host string
	Port       uint16
}

// Voter is one member of the metadata quorum, with the range of kraft.version that it supports.
type Voter struct {
	ReplicaKey
	Endpoints  []VoterEndpoint
	MinVersion int16
	MaxVersion int16
}

// EncodeKRaftVoters encodes a voter set.
func EncodeKRaftVoters(voters []Voter) []byte {
	b := []byte{0, 0}
	b = binary.AppendUvarint(b, uint64(len(voters))+1)
	for i := range voters {
		v := &voters[i]
		b = binary.BigEndian.AppendUint32(b, uint32(v.ID))
		b = append(b, v.Dir[:]...)
		b = binary.AppendUvarint(b, uint64(len(v.Endpoints))+1)
		for _, e := range v.Endpoints {
			b = appendControlString(b, e.Name)
			b = appendControlString(b, e.Host)
			b = binary.BigEndian.AppendUint16(b, e.Port)
			b = append(b, 0)
		}
		b = binary.BigEndian.AppendUint16(b, uint16(v.MinVersion))
		b = binary.BigEndian.AppendUint16(b, uint16(v.MaxVersion))
		b = append(b, 0, 0)
	}
	return append(b, 0)
}

// DecodeKRaftVoters decodes a voter set.
func DecodeKRaftVoters(b []byte) ([]Voter, error) {
	r := controlReader{b: b}
	r.int16()
	var voters []Voter
	for range r.count(27) {
		v := Voter{ReplicaKey: ReplicaKey{ID: r.int32(), Dir: r.uuid()}}
		for range r.count(5) {
			v.Endpoints = append(v.Endpoints, VoterEndpoint{r.string(), r.string(), uint16(r.int16())})
			r.tags()
		}
		v.MinVersion, v.MaxVersion = r.int16(), r.int16()
		r.tags()
		r.tags()
		voters = append(voters, v)
	}
	r.tags()
	return voters, r.done("KRaftVoters")
}

func appendControlString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))+1), s...)
}
