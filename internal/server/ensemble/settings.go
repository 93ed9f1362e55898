package ensemble

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/disk/zklog"
)

// Options are what a server is started with.
type Options struct {
	Config *config.ZooKeeper
	Log    *slog.Logger
	FS     vfs.FS // nil: the operating system's
}

// settings are the values of zoo.cfg that are looked at often.
type settings struct {
	allowed     []string // four-letter words; * is all
	maxFrame    int
	maxPerIP    int
	maxConns    int
	maxWatches  int
	maxIDs      int // identities of a connection, its address among them
	maxOut      int // bytes that wait for a connection to take them
	outstanding int64
	batch       int
	sessionless time.Duration
	slowSync    time.Duration
	minTimeout  int32
	maxTimeout  int32
	tick        int64
	keepAlive   bool

	snapCount    int
	snapBytes    int64
	logSize      int64
	digest       bool
	lastInSnap   bool
	retain       int
	purgeEvery   time.Duration
	reapEvery    time.Duration
	reapMinute   int
	superDigest  string
	digestAlg    string
	digestScheme bool
}

func newSettings(o Options) settings {
	z := o.Config
	super, _ := z.String("DigestAuthenticationProvider.superDigest")
	return settings{
		allowed: allowedWords(z), maxFrame: z.Int("jute.maxbuffer"), maxPerIP: z.Int("maxClientCnxns"),
		maxConns: z.Int("maxCnxns"), maxWatches: z.Int("kalda.maxWatchesPerConnection"),
		maxIDs: z.Int("kalda.maxIdentitiesPerConnection"),
		maxOut: z.Int("kalda.maxOutgoingBytes"), outstanding: int64(z.Int("globalOutstandingLimit")),
		batch:       z.Int("maxBatchSize"),
		sessionless: time.Duration(z.Int("nio.sessionlessCnxnTimeout")) * time.Millisecond,
		slowSync:    time.Duration(z.Long("fsync.warningthresholdms")) * time.Millisecond,
		minTimeout:  int32(z.MinSessionTimeout), maxTimeout: int32(z.MaxSessionTimeout), tick: int64(z.TickTime),
		keepAlive: z.Bool("clientTcpKeepAlive"),
		snapCount: z.Int("snapCount"), snapBytes: z.Long("snapSizeLimitInKb") * 1024,
		logSize: z.Long("txnLogSizeLimitInKb") * 1024, digest: z.Bool("digest.enabled"),
		lastInSnap:  z.Bool("serializeLastProcessedZxidEnabled"),
		retain:      max(zklog.MinRetain, z.Int("autopurge.snapRetainCount")),
		purgeEvery:  time.Duration(z.Int("autopurge.purgeInterval")) * time.Hour,
		reapEvery:   time.Duration(z.Long("znode.container.checkIntervalMs")) * time.Millisecond,
		reapMinute:  z.Int("znode.container.maxPerMinute"),
		superDigest: super, digestAlg: hashName(z.Text("DigestAuthenticationProvider.digestAlg")),
		digestScheme: z.Bool("DigestAuthenticationProvider.enabled"),
	}
}

func allowedWords(z *config.ZooKeeper) []string {
	words := z.List("4lw.commands.whitelist")
	if slices.Contains(words, "*") {
		return []string{"*"}
	}
	return words
}

func treeConfig(z *config.ZooKeeper) ztree.Config {
	return ztree.Config{
		ExtendedTypes:     z.Bool("extendedTypesEnabled"),
		SkipACL:           z.Text("skipACL") == "yes",
		EnforceQuota:      z.Bool("enforceQuota"),
		Digest:            z.Bool("digest.enabled"),
		OmitClosePaths:    !z.Bool("closeSessionTxn.enabled"),
		NeverUsedInterval: z.Long("znode.container.maxNeverUsedIntervalMs"),
		ReconfigEnabled:   z.Bool("reconfigEnabled"),
		Schemes:           ztree.Builtin{NoDigest: !z.Bool("DigestAuthenticationProvider.enabled")},
	}
}

func storeOptions(z *config.ZooKeeper, fs vfs.FS) zklog.Options {
	prealloc := z.Long("preAllocSize") * 1024
	if prealloc <= 0 {
		prealloc = -1
	}
	return zklog.Options{
		FS: fs, DataDir: z.DataDir, LogDir: z.DataLogDir, PreAlloc: prealloc,
		NoSync:       z.Text("forceSync") == "no",
		NoAutoCreate: !z.Bool("datadir.autocreate"),
		TrustEmpty:   z.Bool("snapshot.trust.empty"),
		Compression:  z.Text("snapshot.compression.method"),
	}
}

// clock is that of sessions: it starts as the wall clock and goes on with the machine's steady one, in ms.
type clock struct{ base time.Time }

func (c clock) now() int64 { return c.base.UnixMilli() + time.Since(c.base).Milliseconds() }

// wall is a moment of the clock as the wall clock would have had it.
func (c clock) wall(ms int64) time.Time {
	return c.base.Add(time.Duration(ms-c.base.UnixMilli()) * time.Millisecond)
}

// hashName is the name of a hash without its case and dash: sha-1 is SHA1.
func hashName(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "")) }
