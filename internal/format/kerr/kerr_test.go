package kerr

import "testing"

func TestNames(t *testing.T) {
	for c, want := range map[Code]string{
		-1: "UNKNOWN_SERVER_ERROR", 0: "NONE", 3: "UNKNOWN_TOPIC_OR_PARTITION", 35: "UNSUPPORTED_VERSION",
		103: "INCONSISTENT_TOPIC_ID", 136: "CONTROLLER_ID_NOT_REGISTERED", 137: "UNKNOWN_SERVER_ERROR", -2: "UNKNOWN_SERVER_ERROR",
	} {
		if got := c.String(); got != want {
			t.Errorf("%d is %s, want %s", int16(c), got, want)
		}
	}
	for c := first; c <= last; c++ {
		if c.String() == "" {
			t.Errorf("code %d has no name", int16(c))
		}
	}
	if !NotLeaderOrFollower.Retriable() || InvalidRecord.Retriable() {
		t.Error("retriable is wrong")
	}
}
