package storage

import (
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/format/record"
)

// voters are the members of a dynamic quorum, as --standalone or --initial-controllers says.
func (o *Options) voters() ([]record.Voter, error) {
	if o.Standalone {
		host := o.Host
		if host == "" {
			host = "localhost"
		}
		return []record.Voter{o.voter(o.ID, NewID(), host, o.Port)}, nil
	}
	if o.Initial == "" {
		return nil, nil
	}
	var out []record.Voter
	for text := range strings.SplitSeq(o.Initial, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		v, err := o.parseVoter(text)
		if err != nil {
			return nil, err
		}
		for _, w := range out {
			if w.ID == v.ID {
				return nil, refuse("Node id %d was specified more than once.", v.ID)
			}
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, refuse("No voters given.")
	}
	return out, nil
}

func (o *Options) voter(id int32, dir record.UUID, host string, port uint16) record.Voter {
	return record.Voter{
		ReplicaKey: record.ReplicaKey{ID: id, Dir: dir},
		Endpoints:  []record.VoterEndpoint{{Name: strings.ToUpper(o.Listener), Host: host, Port: port}},
		MaxVersion: 1,
	}
}

// parseVoter reads id@host:port:directory; an IPv6 host stands in brackets.
func (o *Options) parseVoter(text string) (v record.Voter, err error) {
	idText, rest, ok := strings.Cut(text, "@")
	switch {
	case !ok:
		return v, refuse("No @ found in dynamic voter string.")
	case idText == "":
		return v, refuse("Invalid @ at beginning of dynamic voter string.")
	}
	id, err := strconv.ParseInt(idText, 10, 32)
	switch {
	case err != nil:
		return v, refuse("Failed to parse node id in dynamic voter string.")
	case id < 0:
		return v, refuse("Invalid negative node id %d in dynamic voter string.", id)
	case rest == "":
		return v, refuse("No hostname found after node id.")
	}
	host, rest, err := cutHost(rest)
	if err != nil {
		return v, err
	}
	portText, dirText, ok := strings.Cut(rest, ":")
	if !ok {
		return v, refuse("No colon following port could be found.")
	}
	port, err := strconv.Atoi(portText)
	switch {
	case err != nil:
		return v, refuse("Failed to parse port in dynamic voter string.")
	case port < 0 || port > 65535:
		return v, refuse("Invalid port %d in dynamic voter string.", port)
	}
	dir, err := record.ParseUUID(dirText)
	if err != nil {
		return v, refuse("Failed to parse directory ID in dynamic voter string.")
	}
	return o.voter(int32(id), dir, host, uint16(port)), nil
}

func cutHost(s string) (host, rest string, err error) {
	if strings.HasPrefix(s, "[") {
		host, rest, ok := strings.Cut(s[1:], "]")
		switch {
		case !ok:
			return "", "", refuse("Hostname began with left bracket, but no right bracket was found.")
		case !strings.HasPrefix(rest, ":"):
			return "", "", refuse("Port section must start with a colon.")
		}
		return host, rest[1:], nil
	}
	host, rest, ok := strings.Cut(s, ":")
	if !ok {
		return "", "", refuse("No colon following hostname could be found.")
	}
	return host, rest, nil
}
