package tool

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kind says which of Apache's clients a tool's settings are for: each knows other keys.
type kind uint8

const (
	adminClient kind = iota
	producerClient
	consumerClient
)

// connect makes a client from bootstrap servers, settings in Apache's spelling and options of the tool's own,
// which win. It connects when first used.
func (env *Env) connect(k kind, bootstrap string, p props, own ...kgo.Opt) (*kgo.Client, error) {
	seeds, err := seedBrokers(bootstrap)
	if err != nil {
		return nil, err
	}
	limit, err := p.millis("default.api.timeout.ms", time.Minute)
	if err != nil {
		return nil, err
	}
	backoff, err := backoffOf(p)
	if err != nil {
		return nil, err
	}
	hook, err := env.onConnect(p)
	if err != nil {
		return nil, err
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(seeds...),
		kgo.DisableClientMetrics(),
		kgo.RetryTimeout(limit),
		kgo.RequestRetries(1 << 20),
		kgo.RetryBackoffFn(backoff),
		kgo.SoftwareNameAndVersion("kalda", KafkaVersion),
		kgo.WithHooks(hook),
	}
	secure, err := securityOpts(p)
	if err != nil {
		return nil, err
	}
	opts = append(opts, secure...)
	mapped, err := env.mapProps(k, p)
	if err != nil {
		return nil, err
	}
	opts = append(append(opts, mapped...), own...)
	return kgo.NewClient(opts...)
}

// backoffOf is how long to wait before a request is repeated: longer each time.
func backoffOf(p props) (func(tries int) time.Duration, error) {
	first, err1 := p.millis("retry.backoff.ms", 100*time.Millisecond)
	most, err2 := p.millis("retry.backoff.max.ms", time.Second)
	return func(tries int) time.Duration {
		return min(max(most, first), first<<min(max(tries-1, 0), 10))
	}, firstOf(err1, err2)
}

// apiContext bounds one command by default.api.timeout.ms.
func apiContext(p props) (context.Context, context.CancelFunc) {
	limit, err := p.millis("default.api.timeout.ms", time.Minute)
	if err != nil {
		limit = time.Minute
	}
	return context.WithTimeout(context.Background(), limit)
}

// seedBrokers checks bootstrap servers: each is host:port, and at least one name must resolve.
func seedBrokers(bootstrap string) ([]string, error) {
	var seeds []string
	for s := range strings.SplitSeq(bootstrap, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		s = s[strings.LastIndex(s, "://")+1:]
		s = strings.TrimPrefix(s, "//")
		host, port, err := net.SplitHostPort(s)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil || host == "" {
			return nil, fmt.Errorf("Invalid url in bootstrap.servers: %s", s)
		}
		seeds = append(seeds, s)
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("No resolvable bootstrap urls given in bootstrap.servers")
	}
	for _, s := range seeds {
		host, _, _ := net.SplitHostPort(s)
		if _, err := net.DefaultResolver.LookupHost(context.Background(), host); err == nil {
			return seeds, nil
		}
	}
	return nil, fmt.Errorf("No resolvable bootstrap urls given in bootstrap.servers")
}

// dialed looks at connections: it says once a second that a broker does not answer, and sizes the buffers of
// the sockets of those that do.
type dialed struct {
	env           *Env
	last          atomic.Int64
	read, written int // bytes; 0: as the system has them
}

func (env *Env) onConnect(p props) (*dialed, error) {
	written, err1 := p.number("send.buffer.bytes", 0)
	read, err2 := p.number("receive.buffer.bytes", 0)
	return &dialed{env: env, read: int(max(read, 0)), written: int(max(written, 0))}, firstOf(err1, err2)
}

// size sets the buffers of a socket. A system that refuses keeps its own.
func (d *dialed) size(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	socket, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	if d.read > 0 {
		_ = socket.SetReadBuffer(d.read)
	}
	if d.written > 0 {
		_ = socket.SetWriteBuffer(d.written)
	}
}

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (d *dialed) OnBrokerConnect(b kgo.BrokerMetadata, _ time.Duration, conn net.Conn, err error) {
	now := time.Now().Unix()
	if err == nil {
		d.size(conn)
		return
	}
	if d.last.Swap(now) == now {
		return
	}
	fmt.Fprintf(d.env.Err, "WARN Connection to node %d (%s) could not be established. Node may not be "+
		"available.\n",
		max(b.NodeID, -1), net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
}

func (p props) millis(key string, def time.Duration) (time.Duration, error) {
	n, err := p.number(key, def.Milliseconds())
	return time.Duration(n) * time.Millisecond, err
}

func (p props) number(key string, def int64) (int64, error) {
	v, ok := p[key]
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Invalid value %s for configuration %s: Not a number of type LONG", v, key)
	}
	return n, nil
}

func (p props) truth(key string, def bool) (bool, error) {
	switch v, ok := p[key]; {
	case !ok:
		return def, nil
	case strings.EqualFold(v, "true"):
		return true, nil
	case strings.EqualFold(v, "false"):
		return false, nil
	default:
		return false, fmt.Errorf("Invalid value %s for configuration %s: Expected value to be either true or "+
			"false", v, key)
	}
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("Invalid value %s for configuration %s: String must be one of: %s",
		value, key, strings.Join(allowed, ", "))
}

// activeController finds the leader of the metadata quorum from any controller. Controllers answer no
// Metadata, so the client cannot find it by itself: the one that leads is recognized by its address among the
// bootstrap ones, and the first of them is asked where it is none of them.
func activeController(ctx context.Context, client *kgo.Client) (*kgo.Broker, error) {
	seeds := client.SeedBrokers()
	var last error
	for _, seed := range seeds {
		nodes, err := describeControllers(ctx, seed)
		if err != nil {
			last = err
			continue
		}
		for _, n := range nodes.Brokers {
			if n.NodeID != nodes.ControllerID {
				continue
			}
			leader := net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port)))
			for i, address := range client.OptValue(kgo.SeedBrokers).([]string) {
				if address == leader && i < len(seeds) {
					return seeds[i], nil
				}
			}
		}
		return seed, nil
	}
	return nil, last
}

func describeControllers(ctx context.Context, at *kgo.Broker) (*kmsg.DescribeClusterResponse, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType = 2
	resp, err := req.RequestWith(ctx, at)
	if err != nil {
		return nil, err
	}
	return resp, answer(resp.ErrorCode, resp.ErrorMessage)
}
