package tool

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

// What a node serves is told as Apache Kafka 4.4.0's tool tells it.
func TestUsable(t *testing.T) {
	all := apis()
	if len(all) < 80 || all[0] != (api{0, "Produce", 0, 13, false}) {
		t.Fatalf("%d APIs, the first %+v", len(all), all[0])
	}
	for i := 1; i < len(all); i++ {
		if all[i].key <= all[i-1].key || all[i].max > kmsg.RequestForKey(all[i].key).MaxVersion() {
			t.Errorf("%+v", all[i])
		}
	}
	got := strings.Join(usable([]kmsg.ApiVersionsResponseApiKey{
		{ApiKey: 0, MinVersion: 0, MaxVersion: 9},
		{ApiKey: 1, MinVersion: 20, MaxVersion: 21},
		{ApiKey: 2, MinVersion: 0, MaxVersion: 0},
		{ApiKey: 52, MinVersion: 2, MaxVersion: 2},
		{ApiKey: 999, MinVersion: 1, MaxVersion: 2},
	}), "\n")
	for _, want := range []string{
		"Produce(0): 0 to 9 [usable: 9]\n", "Fetch(1): 20 to 21 [unusable: node " +
			"too new]\n",
		"ListOffsets(2): 0 [unusable: node too old]\n", "Metadata(3): UNSUPPORTED\n", "Vote(52): 2 [usable: 2]\n",
		"\nUNKNOWN(999): 1 to 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "BeginQuorumEpoch") {
		t.Error("what nodes ask each other is missed in a broker")
	}
}

func TestPrintGroups(t *testing.T) {
	var out bytes.Buffer
	(&Env{Out: &out}).printGroups([]group{{"cg2", "Consumer", "consumer"}})
	want := "GROUP                TYPE                 PROTOCOL            \n" +
		"cg2                  Consumer             consumer             \n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func replicaAt(id int32, end, caughtUp int64, dir byte) quorumReplica {
	return quorumReplica{
		ReplicaID: id, ReplicaDirectoryID: meta.UUID{15: dir}, LogEndOffset: end,
		LastFetchTimestamp: caughtUp, LastCaughtUpTimestamp: caughtUp,
	}
}

func TestPrintQuorum(t *testing.T) {
	q := &quorumView{}
	q.LeaderID, q.LeaderEpoch, q.HighWatermark = 2, 7, 100
	q.CurrentVoters = []quorumReplica{replicaAt(1, 90, 500, 0), replicaAt(2, 100, 900, 0)}
	q.Observers = []quorumReplica{replicaAt(3, 80, -1, 1)}
	q.nodes = []kmsg.DescribeQuorumResponseNode{{NodeID: 1, Listeners: []kmsg.DescribeQuorumResponseNodeListener{
		{Name: "CONTROLLER", Host: "h", Port: 9093},
	}}}
	var out bytes.Buffer
	env := &Env{Out: &out}
	env.printQuorum(q, "c")
	env.printReplication(q, false)
	want := `ClusterId:              c
LeaderId:               2
LeaderEpoch:            7
HighWatermark:          100
MaxFollowerLag:         10
MaxFollowerLagTimeMs:   400
CurrentVoters:          [{"id": 1, "endpoints": ["CONTROLLER://h:9093"]}, {"id": 2}]
CurrentObservers:       [{"id": 3, "directoryId": "AAAAAAAAAAAAAAAAAAAAAQ"}]
NodeId	DirectoryId           	LogEndOffset	Lag	LastFetchTimestamp	LastCaughtUpTimestamp	Status  	
2     	AAAAAAAAAAAAAAAAAAAAAA	100         	0  	900               	900                  	Leader  	
1     	AAAAAAAAAAAAAAAAAAAAAA	90          	10 	500               	500                  	Follower	
3     	AAAAAAAAAAAAAAAAAAAAAQ	80          	20 	-1                	-1                   	Observer	
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestClusterRefusals(t *testing.T) {
	const b = " --bootstrap-server localhost:1"
	for line, want := range map[string]string{
		"kafka-cluster cluster-id": "one of the arguments --bootstrap-server/-b " +
			"--bootstrap-controller/-C",
		"kafka-groups" + b:                    "Command must include exactly one action: --list.",
		"kafka-groups --list":                 `Missing required argument "[bootstrap-server]"`,
		"kafka-metadata-quorum describe" + b:  "One of --status or --replication must be specified",
		"kafka-log-dirs --describe":           `Missing required argument "[bootstrap-server]"`,
		"kafka-broker-api-versions --foo":     "foo is not a recognized option",
		"kafka-features describe --node-id 1": "one of the arguments",
	} {
		_, errs, code := try(t, "", append([]string{"kalda"}, strings.Fields(line)...)...)
		if code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %q, want %q", line, code, errs, want)
		}
	}
}
