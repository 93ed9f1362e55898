package tool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

// clusterTool is kafka-cluster.
func clusterTool(env *Env, args []string) int {
	flags := func(more ...opt.Flag) []opt.Flag {
		return append([]opt.Flag{
			{
				Name: "bootstrap-server", Short: "b", Arity: opt.Required, Arg: "host:port,...",
				Help: "The brokers to ask.",
			},
			{
				Name: "bootstrap-controller", Short: "C", Arity: opt.Required, Arg: "host:port,...",
				Help: "The controllers to ask, instead of brokers.",
			},
			{Name: "config", Short: "c", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
		}, more...)
	}
	id := opt.Flag{Name: "id", Short: "i", Arity: opt.Required, Arg: "id", Help: "The node."}
	return env.commands(args, &opt.Spec{About: "The Kafka cluster tool."}, []command{
		{
			"cluster-id", &opt.Spec{About: "Get information about the ID of a cluster.", Flags: flags()}, nil,
			func(o *opt.Options) int { return env.onCluster(o, "config", env.clusterID) },
		},
		{
			"unregister", &opt.Spec{About: "Unregister a broker.", Flags: flags(id)},
			[]string{"id"},
			func(o *opt.Options) int { return env.onCluster(o, "config", env.unregister) },
		},
		{
			"list-endpoints", &opt.Spec{About: "List endpoints", Flags: flags(opt.Flag{
				Name: "include-fenced-brokers",
				Help: "Brokers that are fenced too.",
			})}, nil,
			func(o *opt.Options) int { return env.onCluster(o, "config", env.listEndpoints) },
		},
		{
			"api-versions", &opt.Spec{
				About: "Get information about the api versions of the brokers or controllers.",
				Flags: flags(),
			}, nil,
			func(o *opt.Options) int { return env.onCluster(o, "config", env.apiVersions) },
		},
	})
}

// cluster is a client of brokers, or of controllers.
type cluster struct {
	*kgo.Client
	controllers bool
}

// node is whom to ask what any node answers.
func (c *cluster) node(ctx context.Context) (kmsg.Requestor, error) {
	if !c.controllers {
		return c.Client, nil
	}
	if at, err := activeController(ctx, c.Client); err == nil {
		return at, nil
	}
	return c.SeedBrokers()[0], nil // it may not tell who leads, and yet lead
}

// onCluster runs a sub-command over --bootstrap-server or --bootstrap-controller.
func (env *Env) onCluster(o *opt.Options, config string,
	do func(context.Context, *cluster, *opt.Options) error,
) int {
	const both = "--bootstrap-server/-b --bootstrap-controller/-C"
	switch o.Count("bootstrap-server", "bootstrap-controller") {
	case 0:
		return env.complain("one of the arguments " + both + " is required")
	case 2:
		return env.complain("argument --bootstrap-controller/-C: not allowed with argument --bootstrap-server/-b")
	}
	err := func() error {
		p := make(props)
		if file := o.Or(config, ""); file != "" {
			var err error
			if p, err = loadProps(file); err != nil {
				return err
			}
		}
		at := o.Or("bootstrap-server", o.Or("bootstrap-controller", ""))
		client, err := env.connect(adminClient, at, p)
		if err != nil {
			return err
		}
		defer client.Close()
		ctx, cancel := apiContext(p)
		defer cancel()
		return do(ctx, &cluster{client, o.Has("bootstrap-controller")}, o)
	}()
	if err == nil {
		return 0
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return env.complain(err.Error())
	}
	if !errors.Is(err, errHandled) {
		fmt.Fprintln(env.Err, classOf(err, env.Name))
	}
	return 1
}

// describe asks for the nodes: brokers, or controllers.
func (c *cluster) describe(ctx context.Context, fenced bool) (*kmsg.DescribeClusterResponse, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeFencedBrokers = fenced
	at := kmsg.Requestor(c.Client)
	if c.controllers {
		req.EndpointType = 2
		at = c.SeedBrokers()[0]
	}
	resp, err := req.RequestWith(ctx, at)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(resp.Brokers, func(a,
		b kmsg.DescribeClusterResponseBroker,
	) int {
		return int(a.NodeID - b.NodeID)
	})
	return resp, answer(resp.ErrorCode, resp.ErrorMessage)
}

func (env *Env) clusterID(ctx context.Context, c *cluster, _ *opt.Options) error {
	resp, err := c.describe(ctx, false)
	if err == nil {
		fmt.Fprintf(env.Out, "Cluster ID: %s\n", resp.ClusterID)
	}
	return err
}

func (env *Env) unregister(ctx context.Context, c *cluster, o *opt.Options) error {
	id, err := o.Int("id", 0)
	if err != nil {
		return err
	}
	at, err := c.node(ctx)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrUnregisterBrokerRequest()
	req.BrokerID = int32(id)
	resp, err := req.RequestWith(ctx, at)
	if err == nil {
		err = answer(resp.ErrorCode, resp.ErrorMessage)
	}
	if err == nil {
		fmt.Fprintf(env.Out, "Broker %d is no longer registered.\n", id)
	}
	return err
}

func rackOf(rack *string) string {
	if rack == nil {
		return "null"
	}
	return *rack
}

func (env *Env) listEndpoints(ctx context.Context, c *cluster, o *opt.Options) error {
	if c.controllers && o.Has("include-fenced-brokers") {
		return errors.New("The option --include-fenced-brokers is only supported with --bootstrap-server option")
	}
	resp, err := c.describe(ctx, o.Has("include-fenced-brokers"))
	if err != nil {
		return err
	}
	host, rack := 1, 10
	for _, n := range resp.Brokers {
		host, rack = max(host, len(n.Host)), max(rack, len(rackOf(n.Rack)))
	}
	row := func(id, hostName, port, rackName, state, kind string) {
		fmt.Fprintf(env.Out, "%-10s %-*s %-10s %-*s ", id, host, hostName, port, rack, rackName)
		if !c.controllers {
			fmt.Fprintf(env.Out, "%-10s ", state)
		}
		fmt.Fprintf(env.Out, "%-15s\n", kind)
	}
	row("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE")
	for _, n := range resp.Brokers {
		state, kind := "unfenced", "broker"
		if n.IsFenced {
			state = "fenced"
		}
		if c.controllers {
			kind = "controller"
		}
		row(strconv.Itoa(int(n.NodeID)), n.Host, strconv.Itoa(int(n.Port)), rackOf(n.Rack), state, kind)
	}
	return nil
}

// brokerAPIVersions is kafka-broker-api-versions.
func brokerAPIVersions(env *Env, args []string) int {
	spec := &opt.Spec{About: "This tool helps to retrieve broker version information.", Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
			Help: "REQUIRED: the brokers to ask.",
		},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
	}}
	return env.adminTool(args, spec, []string{"bootstrap-server"},
		func(ctx context.Context, client *kgo.Client, o *opt.Options) error {
			return env.apiVersions(ctx, &cluster{Client: client}, o)
		})
}

// apiVersions shows of each node what it serves and which version of it a client of this release uses.
func (env *Env) apiVersions(ctx context.Context, c *cluster, _ *opt.Options) error {
	nodes, err := c.describe(ctx, false)
	if err != nil {
		return err
	}
	for _, n := range nodes.Brokers {
		address := net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port)))
		fmt.Fprintf(env.Out, "%s (id: %d rack: %s isFenced: %t) -> ", address, n.NodeID, rackOf(n.Rack), n.IsFenced)
		at := kmsg.Requestor(c.Broker(int(n.NodeID)))
		if c.controllers {
			if at = c.seedAt(address); at == nil {
				fmt.Fprintln(env.Out, "ERROR: the node is none of --bootstrap-controller")
				continue
			}
		}
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "kalda", KafkaVersion
		resp, err := req.RequestWith(ctx, at)
		if err == nil {
			err = answer(resp.ErrorCode, nil)
		}
		if err != nil {
			fmt.Fprintf(env.Out, "ERROR: %s\n", classOf(err, "apiVersions"))
			continue
		}
		fmt.Fprintf(env.Out, "(\n\t%s\n)\n", strings.Join(usable(resp.ApiKeys), ",\n\t"))
	}
	return nil
}

// seedAt is the bootstrap node of that address.
func (c *cluster) seedAt(address string) kmsg.Requestor {
	for i, seed := range c.OptValue(kgo.SeedBrokers).([]string) {
		if seed == address && i < len(c.SeedBrokers()) {
			return c.SeedBrokers()[i]
		}
	}
	return nil
}

// usable describes a node's versions by the side of a client's.
func usable(served []kmsg.ApiVersionsResponseApiKey) []string {
	rows := make(map[int16]kmsg.ApiVersionsResponseApiKey, len(served))
	for _, k := range served {
		rows[k.ApiKey] = k
	}
	var lines []string
	for _, a := range apis() {
		k, ok := rows[a.key]
		delete(rows, a.key)
		switch {
		case ok:
			lines = append(lines, fmt.Sprintf("%s(%d): %s %s", a.name, a.key, versionSpan(k.MinVersion, k.MaxVersion),
				best(a, k)))
		case !a.node:
			lines = append(lines, fmt.Sprintf("%s(%d): UNSUPPORTED", a.name, a.key))
		}
	}
	for _, k := range served {
		if _, left := rows[k.ApiKey]; left {
			lines = append(lines, fmt.Sprintf("UNKNOWN(%d): %s", k.ApiKey, versionSpan(k.MinVersion, k.MaxVersion)))
		}
	}
	return lines
}

// versionSpan is a range of versions.
func versionSpan(low, high int16) string {
	if low == high {
		return strconv.Itoa(int(low))
	}
	return fmt.Sprintf("%d to %d", low, high)
}

func best(a api, k kmsg.ApiVersionsResponseApiKey) string {
	switch {
	case k.MaxVersion < a.min:
		return "[unusable: node too old]"
	case k.MinVersion > a.max:
		return "[unusable: node too new]"
	}
	return fmt.Sprintf("[usable: %d]", min(a.max, k.MaxVersion))
}
