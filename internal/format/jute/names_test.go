package jute

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryName: names are those that Apache's logs and tools print, each of one number; what has none shows its number.
func TestEveryName(t *testing.T) {
	seen := map[string]int32{}
	name := func(n int32, s string, known bool) {
		t.Helper()
		if bare := strings.Contains(s, fmt.Sprint(n)); s == "" || bare == known {
			t.Errorf("%d is %q", n, s)
		}
		if m, twice := seen[s]; twice {
			t.Errorf("%d and %d are %q", m, n, s)
		}
		seen[s] = n
	}
	ops := []OpCode{
		OpNotification, OpCreate, OpDelete, OpExists, OpGetData, OpSetData, OpGetACL, OpSetACL, OpGetChildren, OpSync,
		OpPing, OpGetChildren2, OpCheck, OpMulti, OpCreate2, OpReconfig, OpCheckWatches, OpRemoveWatches,
		OpCreateContainer, OpDeleteContainer, OpCreateTTL, OpMultiRead, OpAuth, OpSetWatches, OpSASL, OpGetEphemerals,
		OpGetAllChildrenNumber, OpSetWatches2, OpAddWatch, OpWhoAmI, OpCreateSession, OpCloseSession, OpError,
	}
	for _, o := range ops {
		name(int32(o), o.String(), true)
	}
	name(999, OpCode(999).String(), false)
	clear(seen)
	events := []EventType{
		EventNone, EventNodeCreated, EventNodeDeleted, EventNodeDataChanged, EventNodeChildrenChanged,
	}
	for _, e := range events {
		name(int32(e), e.String(), true)
	}
	name(77, EventType(77).String(), false)
	if s := SessionID(-1).String(); s != "0xffffffffffffffff" {
		t.Error(s)
	}
}
