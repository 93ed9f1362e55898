package seglog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// ErrCorrupt marks a file whose content can't be what it should.
var ErrCorrupt = errors.New("corrupt file")

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

func (tp TopicPartition) String() string { return logName(tp.Topic, tp.Partition) }

func compareTP(a, b TopicPartition) int {
	if c := strings.Compare(a.Topic, b.Topic); c != 0 {
		return c
	}
	return int(a.Partition) - int(b.Partition)
}

// PartitionOffset is a line of an offset checkpoint.
type PartitionOffset struct {
	TopicPartition
	Offset batch.Offset
}

// EpochEntry says which offset was the first of a leader epoch.
type EpochEntry struct {
	Epoch batch.Epoch
	Start batch.Offset
}

// encodeOffsets writes an offset checkpoint: version, count, lines of "topic partition offset".
func encodeOffsets(entries []PartitionOffset) []byte {
	b := fmt.Appendf(nil, "0\n%d\n", len(entries))
	for _, e := range entries {
		b = append(append(b, e.Topic...), ' ')
		b = append(strconv.AppendInt(b, int64(e.Partition), 10), ' ')
		b = append(strconv.AppendInt(b, int64(e.Offset), 10), '\n')
	}
	return b
}

func decodeOffsets(b []byte) ([]PartitionOffset, error) {
	lines, err := checkpointLines(b)
	if err != nil {
		return nil, err
	}
	out := make([]PartitionOffset, 0, len(lines))
	for _, line := range lines {
		f := bytes.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%w: line %q", ErrCorrupt, line)
		}
		p, err1 := strconv.ParseInt(string(f[1]), 10, 32)
		o, err2 := strconv.ParseInt(string(f[2]), 10, 64)
		if err1 != nil || err2 != nil || p < 0 || o < 0 {
			return nil, fmt.Errorf("%w: line %q", ErrCorrupt, line)
		}
		out = append(out, PartitionOffset{TopicPartition{string(f[0]), int32(p)}, batch.Offset(o)})
	}
	return out, nil
}

// checkpointLines checks the two lines that every checkpoint starts with and returns the others. An empty
// file has none.
func checkpointLines(b []byte) ([][]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(lines) < 2 || string(lines[0]) != "0" {
		return nil, fmt.Errorf("%w: checkpoint version %.20q", ErrCorrupt, lines[0])
	}
	n, err := strconv.Atoi(string(lines[1]))
	if err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%w: checkpoint of %.20q lines has %d", ErrCorrupt, lines[1], len(lines)-2)
	}
	return lines[2:], nil
}

// LoadOffsets reads an offset checkpoint. A missing file is an empty one.
func LoadOffsets(fsys vfs.FS, name string) ([]PartitionOffset, error) {
	b, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := decodeOffsets(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return entries, nil
}

// SaveOffsets replaces an offset checkpoint durably. It sorts the entries.
func SaveOffsets(fsys vfs.FS, name string, entries []PartitionOffset) error {
	sortOffsets(entries)
	return vfs.WriteFile(fsys, name, encodeOffsets(entries))
}

func sortOffsets(entries []PartitionOffset) {
	slices.SortFunc(entries, func(a, b PartitionOffset) int {
		return compareTP(a.TopicPartition, b.TopicPartition)
	})
}

// encodeEpochs writes a leader epoch checkpoint: version, count, lines of "epoch start".
func encodeEpochs(entries []EpochEntry) []byte {
	b := fmt.Appendf(nil, "0\n%d\n", len(entries))
	for _, e := range entries {
		b = fmt.Appendf(b, "%d %d\n", e.Epoch, e.Start)
	}
	return b
}

func decodeEpochs(b []byte) ([]EpochEntry, error) {
	lines, err := checkpointLines(b)
	if err != nil {
		return nil, err
	}
	out := make([]EpochEntry, 0, len(lines))
	for _, line := range lines {
		e, s, _ := strings.Cut(string(line), " ")
		epoch, err1 := strconv.ParseInt(e, 10, 32)
		start, err2 := strconv.ParseInt(s, 10, 64)
		if err1 != nil || err2 != nil || epoch < 0 || start < 0 {
			return nil, fmt.Errorf("%w: line %q", ErrCorrupt, line)
		}
		out = append(out, EpochEntry{batch.Epoch(epoch), batch.Offset(start)})
	}
	for i := 1; i < len(out); i++ {
		if out[i].Epoch <= out[i-1].Epoch || out[i].Start < out[i-1].Start {
			return nil, fmt.Errorf("%w: epoch %d from %d after %d from %d", ErrCorrupt,
				out[i].Epoch, out[i].Start, out[i-1].Epoch, out[i-1].Start)
		}
	}
	return out, nil
}

// encodePartition writes partition.metadata.
func encodePartition(id [16]byte) []byte {
	return fmt.Appendf(nil, "version: 0\ntopic_id: %s", base64.RawURLEncoding.EncodeToString(id[:]))
}

func decodePartition(b []byte) (id [16]byte, err error) {
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "version":
			if value != "0" {
				return id, fmt.Errorf("%w: version %q", ErrCorrupt, value)
			}
		case "topic_id":
			raw, err := base64.RawURLEncoding.DecodeString(value)
			if err != nil || len(raw) != 16 {
				return id, fmt.Errorf("%w: topic id %q", ErrCorrupt, value)
			}
			return [16]byte(raw), nil
		}
	}
	return id, fmt.Errorf("%w: no topic id", ErrCorrupt)
}

// cleanShutdown is .kafka_cleanshutdown's content.
type cleanShutdown struct {
	Version     int   `json:"version"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

func encodeClean(epoch int64) []byte {
	b, _ := json.Marshal(cleanShutdown{BrokerEpoch: epoch}) // numbers only
	return b
}

// decodeClean returns the broker epoch of the clean shutdown, -1 if the file doesn't say one (before 3.7 it
// was empty).
func decodeClean(b []byte) int64 {
	c := cleanShutdown{BrokerEpoch: -1}
	if json.Unmarshal(b, &c) != nil || c.Version != 0 {
		return -1
	}
	return c.BrokerEpoch
}
