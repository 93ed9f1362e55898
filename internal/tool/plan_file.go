package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
)

// A plan file is the JSON file that tells a tool on which partitions to act. Complaints are Apache's.

// planFile is a plan file's partitions, each with its fields.
type planFile []planEntry

type planEntry map[string]json.RawMessage

var (
	errNotJSON      = errors.New("The input string is not a valid JSON")
	errNoPartitions = errors.New("Missing partitions field")
)

func readPlanFile(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("Unable to read file %s", name)
	}
	return text, nil
}

// parsePlan reads the partitions of version 1, the only one.
func parsePlan(text []byte) (planFile, error) {
	var all planEntry
	if json.Unmarshal(text, &all) != nil || all == nil {
		return nil, errNotJSON
	}
	return parsePlanEntry(all)
}

func parsePlanEntry(all planEntry) (planFile, error) {
	if raw, ok := all["version"]; ok {
		if version, err := planInt(raw); err != nil {
			return nil, err
		} else if version != 1 {
			return nil, fmt.Errorf("Not supported version field value %d", version)
		}
	}
	raw, ok := all["partitions"]
	if !ok {
		return nil, errNoPartitions
	}
	var entries planFile
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("Expected JSON array, received %s", compact(raw))
	}
	return entries, nil
}

func (e planEntry) field(name string) (json.RawMessage, error) {
	raw, ok := e[name]
	if !ok {
		return nil, fmt.Errorf("No such field exists: `%s`", name)
	}
	return raw, nil
}

func (e planEntry) text(name string) (string, error) {
	raw, err := e.field(name)
	if err != nil {
		return "", err
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", fmt.Errorf("Expected `String` value, received %s", compact(raw))
	}
	return *s, nil
}

// partition is what all plans have.
func (e planEntry) partition() (string, int32, error) {
	topic, err := e.text("topic")
	if err != nil {
		return "", 0, err
	}
	raw, err := e.field("partition")
	if err != nil {
		return "", 0, err
	}
	n, err := planInt(raw)
	return topic, n, err
}

func (e planEntry) long(name string) (int64, error) {
	raw, err := e.field(name)
	if err != nil {
		return 0, err
	}
	var n *int64
	if json.Unmarshal(raw, &n) != nil || n == nil {
		return 0, fmt.Errorf("Expected `Long` value, received %s", compact(raw))
	}
	return *n, nil
}

func planInt(raw json.RawMessage) (int32, error) {
	var n *int64
	if json.Unmarshal(raw, &n) != nil || n == nil || *n > math.MaxInt32 || *n < math.MinInt32 {
		return 0, fmt.Errorf("Expected `Integer` value, received %s", compact(raw))
	}
	return int32(*n), nil
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
