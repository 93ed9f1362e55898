package seglog

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/format/batch"
)

// Suffixes of files and directories.
const (
	suffixLog      = ".log"
	suffixIndex    = ".index"
	suffixTime     = ".timeindex"
	suffixTxn      = ".txnindex"
	suffixSnapshot = ".snapshot"
	suffixDeleted  = ".deleted"
	suffixCleaned  = ".cleaned"
	suffixSwap     = ".swap"

	suffixDirDelete = "-delete"
	suffixDirFuture = "-future"
	suffixDirStray  = "-stray"

	maxDirName = 255
)

// Files of a log directory.
const (
	fileLock        = ".lock"
	fileBoot        = ".kalda_boot"
	fileClean       = ".kafka_cleanshutdown"
	fileMeta        = "meta.properties"
	fileRecovery    = "recovery-point-offset-checkpoint"
	fileStart       = "log-start-offset-checkpoint"
	fileHW          = "replication-offset-checkpoint"
	fileCleaned     = "cleaner-offset-checkpoint"
	fileEpochs      = "leader-epoch-checkpoint"
	filePartition   = "partition.metadata"
	metadataLogName = "__cluster_metadata-0"
	remoteCacheName = "remote-log-index-cache"
)

func segmentName(base batch.Offset) string { return fmt.Sprintf("%020d", int64(base)) }

// parseSegmentName splits a file's name into the offset it starts with and the rest. Not ok: not such a file.
func parseSegmentName(name string) (base batch.Offset, suffix string, ok bool) {
	i := strings.IndexByte(name, '.')
	if i != 20 {
		return 0, "", false
	}
	n, err := strconv.ParseInt(name[:i], 10, 64)
	if err != nil || n < 0 {
		return 0, "", false
	}
	return batch.Offset(n), name[i:], true
}

func logName(topic string, partition int32) string { return topic + "-" + strconv.Itoa(int(partition)) }

// parseLogName is the inverse of logName: the last dash separates. Not ok: a foreign directory, or one put
// aside.
func parseLogName(name string) (topic string, partition int32, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || i == len(name)-1 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil || n < 0 || name[i+1:] != strconv.FormatInt(n, 10) {
		return "", 0, false
	}
	return name[:i], int32(n), true
}

// asideName is the unique name that a log's directory is renamed to; the topic is cut so that it fits.
func asideName(topic string, partition int32, suffix string) string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	tail := "-" + strconv.Itoa(int(partition)) + "." + hex.EncodeToString(id[:]) + suffix
	return topic[:min(len(topic), maxDirName-len(tail))] + tail
}

// isAside tells a directory that asideName named.
func isAside(name, suffix string) bool {
	rest, ok := strings.CutSuffix(name, suffix)
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 || len(rest)-i-1 != 32 {
		return false
	}
	_, err := hex.DecodeString(rest[i+1:])
	_, _, isLog := parseLogName(rest[:i])
	return err == nil && isLog
}
