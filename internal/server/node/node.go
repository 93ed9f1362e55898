package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/console"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/obs"
	"github.com/kalda/kalda/internal/server/broker"
	"github.com/kalda/kalda/internal/server/controller"
	"github.com/kalda/kalda/internal/server/quorum"
	"github.com/kalda/kalda/internal/server/storage"
	"github.com/kalda/kalda/internal/wire"
)

// Node is one running process. Start makes it, Stop ends it.
type Node struct {
	cfg  *config.Server
	logs *obs.Logs
	log  *slog.Logger
	reg  *obs.Registry
	id   identity
	fs   vfs.FS

	lock    io.Closer // of a metadata directory that isn't a log dir
	wire    *wire.Server
	quorum  *quorum.Quorum
	ctl     *controller.Controller // nil without the controller role
	loader  *controller.Loader     // nil with it
	broker  *broker.Broker         // nil without the broker role
	groups  groups
	txns    transactions
	channel *channel
	life    *lifecycle
	console *console.Server // nil when off
	metrics metrics
	ready   atomic.Bool

	image      atomic.Pointer[meta.Image] // newest, as the state machine published it
	first      chan struct{}              // closed when the first image with a record is published
	verifyTxns atomic.Bool                // transaction.partition.verification.enable
	incarnated meta.UUID
	fatal      chan error // what the node can't go on after
	cancel     context.CancelFunc
	wg         sync.WaitGroup
}

// Start makes a node and returns when it serves. On an error nothing is left running.
func Start(ctx context.Context, cfg *config.Server, logs *obs.Logs) (*Node, error) {
	return startOn(ctx, vfs.OS(), cfg, logs)
}

// startOn is Start with everything durable on fsys.
func startOn(ctx context.Context, fsys vfs.FS, cfg *config.Server, logs *obs.Logs) (*Node, error) {
	n := &Node{
		fs:  fsys,
		cfg: cfg, logs: logs, log: logs.Named("node"), reg: new(obs.Registry),
		first: make(chan struct{}), incarnated: storage.NewID(), fatal: make(chan error, 1),
	}
	n.image.Store(meta.Empty())
	var err error
	if n.id, err = identify(n.fs, cfg); err != nil {
		return nil, err
	}
	if err = n.build(); err == nil {
		err = n.startConsole()
	}
	if err == nil {
		err = n.run(ctx)
	}
	if err != nil {
		n.abort()
		return nil, err
	}
	n.ready.Store(true)
	return n, nil
}

// lockMetadata locks the metadata directory unless the broker has it among its log dirs.
func (n *Node) lockMetadata() error {
	if n.broker != nil && slices.Contains(n.cfg.LogDirs, n.cfg.MetadataLogDir) {
		return nil
	}
	lock, err := n.fs.Lock(filepath.Join(n.cfg.MetadataLogDir, ".lock"))
	if err != nil {
		return fmt.Errorf("another process uses the metadata directory: %w", err)
	}
	n.lock = lock
	return nil
}

func (n *Node) startConsole() error {
	if n.cfg.HTTPListener == "" {
		return nil
	}
	n.register()
	var err error
	n.console, err = console.Start(console.Config{
		Addr: n.cfg.HTTPListener, Metrics: n.reg.Handler(), Log: n.logs.Named("console"),
		Ready: func() error {
			if !n.ready.Load() {
				return errors.New("starting or stopping")
			}
			return nil
		},
	})
	if err != nil && n.cfg.Path == "" { // nobody asked for it: a second node on the machine is no reason to stop
		n.log.Warn("no metrics and health over HTTP", "error", err)
		return nil
	}
	return err
}

// Fatal delivers the fault that the node can't go on after, if there is one.
func (n *Node) Fatal() <-chan error { return n.fatal }

// fail reports a fault that the node can't go on after.
func (n *Node) fail(err error) {
	n.log.Error("the node can't go on", "error", err)
	select {
	case n.fatal <- err:
	default:
	}
}

// build makes the parts. Sockets are bound, nothing runs yet.
func (n *Node) build() error {
	var m quorum.Machine
	if n.cfg.Controller {
		n.ctl = controller.New(n.controllerConfig(), n.publish)
		m = n.ctl
	} else {
		n.loader = controller.NewLoader(n.publish, n.fail, n.logs.Named("metadata"))
		m = n.loader
	}
	n.channel = &channel{
		self: meta.NodeID(n.cfg.NodeID), ctl: n.ctl, timeout: millis(n.cfg.Scope, "request.timeout.ms"),
		slots: make(chan struct{}, maxForwarded),
	}
	if n.cfg.Broker {
		if err := n.buildBroker(); err != nil {
			return err
		}
	}
	w, err := wireConfig(n.cfg)
	if err != nil {
		return err
	}
	n.bound(&w)
	w.Log, w.Metrics = n.logs.Named("network"), &n.metrics.wire
	if n.broker != nil {
		w.Quotas = n.broker.Quotas()
	}
	if n.wire, err = wire.Listen(w); err != nil {
		return err
	}
	q := quorumConfig(n.cfg, n.id)
	q.Logger, q.FS = n.logs.Named("raft"), n.fs
	if err := n.lockMetadata(); err != nil {
		return err
	}
	if n.quorum, err = quorum.Open(q, m); err != nil {
		return err
	}
	if n.ctl != nil {
		n.ctl.Attach(n.quorum)
	}
	n.channel.leader, n.channel.raft = n.quorum.Leader, n.quorum
	n.channel.remote = &remote{
		leader: n.controllerAddress, client: "kalda-" + strconv.Itoa(int(n.cfg.NodeID)),
		log: n.logs.Named("channel"),
	}
	return nil
}

func (n *Node) controllerConfig() controller.Config {
	c := controllerConfig(n.cfg, n.id)
	c.Fault, c.Logger = n.fail, n.logs.Named("controller")
	c.Bootstrap = func() [][]byte { return n.quorum.Bootstrap() }
	c.Validate = func(res meta.ConfigResource, values map[string]string) error {
		before := n.image.Load().Config(res.Kind, res.Name)
		if f := n.cfg.Validate(config.Resource(res.Kind), res.Name, before, values); f != nil {
			return f
		}
		return nil
	}
	c.ListKeys = func(kind meta.ConfigKind, name string) (string, bool) {
		return n.cfg.ListDefault(config.Resource(kind), name, n.dynamic())
	}
	return c
}

func (n *Node) buildBroker() error {
	c := brokerConfig(n.cfg, n.id)
	c.Announced = true
	for _, l := range n.cfg.BrokerListeners {
		c.Announced = c.Announced && n.cfg.Registers(l.Name)
	}
	c.Topic, c.FS = n.topicConfig, n.fs
	c.Forward = n.channel
	n.groups = n.buildGroups()
	c.Groups = n.groups
	n.txns = n.buildTransactions()
	c.Transactions, c.VerifyTransactions = n.txns, n.verifyTxns.Load
	c.TxnRetry = millis(n.cfg.Scope, "add.partitions.to.txn.retry.backoff.ms")
	c.TxnRetryMax = orNever(millis(n.cfg.Scope, "add.partitions.to.txn.retry.backoff.max.ms"))
	c.Logs, c.Log, c.Metrics = n.logs, n.logs.Named("broker"), &n.metrics.broker
	var err error
	if n.broker, err = broker.New(c); err != nil {
		return err
	}
	n.txns.Attach(n.broker)
	n.life = newLifecycle(n.channel, n.logs.Named("lifecycle"))
	n.life.registration = n.registration
	n.life.offset = func() int64 { return n.broker.Image().Offset }
	n.life.failedDirs = n.broker.OfflineDirs
	n.life.heartbeat = millis(n.cfg.Scope, "broker.heartbeat.interval.ms")
	n.life.session = millis(n.cfg.Scope, "broker.session.timeout.ms")
	n.life.initial = millis(n.cfg.Scope, "initial.broker.registration.timeout.ms")
	return nil
}

// topicConfig is a topic's effective configuration, with what is set dynamically now.
func (n *Node) topicConfig(overrides map[string]string) config.TopicConfig {
	t, err := n.cfg.Topic(overrides, n.dynamic())
	if err != nil {
		n.log.Error("a topic's configuration can't be used as it is", "error", err)
	}
	return t
}

func (n *Node) dynamic() config.Dynamic {
	img := n.image.Load()
	return config.Dynamic{
		Broker:  img.Config(meta.ConfigBroker, strconv.Itoa(int(n.cfg.NodeID))),
		Default: img.Config(meta.ConfigBroker, ""),
	}
}

// publish takes an image from the state machine: partitions are made before anybody sees that they should
// be there.
func (n *Node) publish(img *meta.Image, d *meta.Delta) {
	before := n.image.Swap(img)
	n.verifyTxns.Store(n.cfg.With(n.dynamic()).Bool("transaction.partition.verification.enable"))
	if n.broker != nil {
		n.broker.ApplyImage(img, d)
	}
	if before.Offset < 0 && img.Offset >= 0 {
		close(n.first)
	}
}

// run starts everything in order and returns when this node serves.
func (n *Node) run(ctx context.Context) error {
	if err := n.quorum.Start(); err != nil {
		return err
	}
	n.wg.Go(func() {
		<-n.quorum.Done()
		if err := n.quorum.Err(); err != nil {
			n.fail(fmt.Errorf("metadata quorum: %w", err))
		}
	})
	for _, l := range n.cfg.ControllerListeners {
		if n.ctl == nil {
			break
		}
		table := controllerTable(n.quorum, n.ctl, n.controllerVersions, n.describeControllers)
		if err := n.wire.Serve(l.Name, table); err != nil {
			return err
		}
	}
	life, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	if n.ctl != nil {
		n.wg.Go(func() { n.keepRegistered(life) })
	}
	if n.broker == nil {
		return nil
	}
	if err := n.wait(ctx, n.first, "the first metadata"); err != nil {
		return err
	}
	n.broker.Start()
	n.wg.Go(func() {
		if err := n.life.run(life); err != nil && !errors.Is(err, context.Canceled) {
			n.fail(err)
		}
	})
	if err := n.wait(ctx, n.life.running, "the controller to unfence this broker"); err != nil {
		return err
	}
	n.broker.PutStraysAside()
	table := n.broker.Table()
	for _, l := range n.cfg.BrokerListeners {
		if err := n.wire.Serve(l.Name, table); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for a step of the start, and says now and then what it waits for.
func (n *Node) wait(ctx context.Context, done <-chan struct{}, what string) error {
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("stopped while waiting for %s", what)
		case err := <-n.fatal:
			return err
		case <-time.After(5 * time.Second):
			n.log.Info("waiting for " + what)
		}
	}
}

// Stop takes the node down in order, as long as ctx lets it.
func (n *Node) Stop(ctx context.Context) error {
	n.ready.Store(false)
	if n.life != nil && n.cfg.Bool("controlled.shutdown.enable") {
		n.life.shutdown(ctx)
	}
	n.halt(ctx)
	var err error
	if n.broker != nil {
		err = n.broker.Close(ctx)
	}
	err = errors.Join(err, n.quorum.Close(ctx))
	n.finish(ctx)
	return err
}

// finish ends what lives as long as the node.
func (n *Node) finish(ctx context.Context) {
	n.wg.Wait()
	if n.console != nil {
		_ = n.console.Close(ctx)
	}
	if n.lock != nil {
		_ = n.lock.Close()
	}
}

// halt ends connections and goroutines.
func (n *Node) halt(ctx context.Context) {
	if n.cancel != nil {
		n.cancel()
	}
	if n.wire != nil {
		n.wire.Shutdown(ctx)
	}
	if n.channel != nil && n.channel.remote != nil {
		n.channel.remote.close()
	}
}

// abort takes down what a start that failed has left.
func (n *Node) abort() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n.halt(ctx)
	if n.broker != nil {
		_ = n.broker.Close(ctx)
	}
	if n.quorum != nil {
		_ = n.quorum.Close(ctx)
	}
	n.finish(ctx)
}

// Addr is where a listener listens, nil if there is none of that name.
func (n *Node) Addr(listener string) *net.TCPAddr { return n.wire.Addr(listener) }

// controllerAddress is where the active controller listens, as far as this node knows.
func (n *Node) controllerAddress() (string, bool) {
	e, ok := n.quorum.LeaderEndpoint()
	return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))), ok
}

// registration is what this broker tells the controller about itself.
func (n *Node) registration() *kmsg.BrokerRegistrationRequest {
	req := kmsg.NewPtrBrokerRegistrationRequest()
	req.BrokerID, req.ClusterID, req.IncarnationID = n.cfg.NodeID, n.id.cluster, n.incarnated
	req.PreviousBrokerEpoch = n.broker.PreviousEpoch()
	if rack := n.cfg.String("broker.rack"); rack != "" {
		req.Rack = &rack
	}
	for _, l := range n.cfg.Advertised {
		e := kmsg.NewBrokerRegistrationRequestListener()
		e.Name, e.Host, e.Port, e.SecurityProtocol = l.Name, hostOf(l.Host), n.portOf(l), l.Protocol
		req.Listeners = append(req.Listeners, e)
	}
	for name, r := range meta.Supported() {
		f := kmsg.NewBrokerRegistrationRequestFeature()
		f.Name, f.MinSupportedVersion, f.MaxSupportedVersion = name, r.Min, r.Max
		req.Features = append(req.Features, f)
	}
	for _, d := range n.broker.OnlineDirs() {
		req.LogDirs = append(req.LogDirs, d)
	}
	return req
}

// portOf is the port that a listener is reached on: port 0 is the one that the system chose.
func (n *Node) portOf(l config.Listener) uint16 {
	if a := n.wire.Addr(l.Name); l.Port == 0 && a != nil {
		return uint16(a.Port)
	}
	return uint16(l.Port)
}
