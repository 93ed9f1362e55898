package tool

import "testing"

// The complaints are those of Apache Kafka 4.4.0's tool.
func TestDeletionPlan(t *testing.T) {
	for text, want := range map[string]string{
		`nope`:                          "The input string is not a valid JSON",
		`{"version":1}`:                 "Missing partitions field",
		`{"version":2,"partitions":[]}`: "Not supported version field value 2",
		`{"partitions":[{"topic":"foo","offset":3}]}`:                        "No such field exists: `partition`",
		`{"partitions":[{"topic":"foo","partition": "x","offset":3}]}`:       "Expected `Integer` value, received \"x\"",
		`{"partitions":[{"topic":"foo","partition":3000000000,"offset":3}]}`: "Expected `Integer` value, received 3000000000",
		`{"partitions":[{"topic":"a","partition":0,"offset":3},{"topic":"a","partition":0,"offset":5}]}`: "Offset json " +
			"file contains duplicate topic partitions: a-0",
		`{"version":1,"partitions":[]}`: "",
	} {
		_, err := deletionPlan([]byte(text))
		if got := ""; err != nil {
			got = err.Error()
			if got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: taken", text)
		}
	}
	got, err := deletionPlan([]byte(`{"partitions":[{"topic":"a","partition":2,"offset":-1}]}`))
	if o, ok := got.Lookup("a", 2); err != nil || !ok || o.At != -1 {
		t.Errorf("%v, %v", got, err)
	}
}
