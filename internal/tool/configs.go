package tool

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/tool/opt"
)

func configsSpec() *opt.Spec {
	return &opt.Spec{
		About: "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, " +
			"client-metrics or group",
		Flags: []opt.Flag{
			{Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...", Help: "The brokers to ask."},
			{Name: "bootstrap-controller", Arity: opt.Required, Arg: "host:port,...", Help: "The controllers to ask."},
			{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
			{Name: "describe", Help: "Show an entity's configuration."},
			{Name: "all", Help: "With --describe: defaults too."},
			{Name: "alter", Help: "Change an entity's configuration."},
			{
				Name: "add-config", Arity: opt.Required, Arg: "k=v,k=[v,v]",
				Help: "What to set; brackets around values with commas.",
			},
			{Name: "add-config-file", Arity: opt.Required, Arg: "file", Help: "What to set, in a file."},
			{Name: "delete-config", Arity: opt.Required, Arg: "k,k", Help: "What to unset."},
			{
				Name: "entity-type", Arity: opt.Required, Arg: "type",
				Help: "topics, clients, users, brokers, broker-loggers, ips, client-metrics or groups.",
			},
			{Name: "entity-name", Arity: opt.Required, Arg: "name", Help: "Which one; repeat with --entity-type."},
			{Name: "entity-default", Help: "The default for users, clients, brokers or ips."},
			{Name: "topic", Arity: opt.Required, Arg: "topic", Help: "The topic."},
			{Name: "client", Arity: opt.Required, Arg: "id", Help: "The client id."},
			{Name: "client-defaults", Help: "The default for all client ids."},
			{Name: "user", Arity: opt.Required, Arg: "name", Help: "The user."},
			{Name: "user-defaults", Help: "The default for all users."},
			{Name: "broker", Arity: opt.Required, Arg: "id", Help: "The broker."},
			{Name: "broker-defaults", Help: "The default for all brokers."},
			{Name: "broker-logger", Arity: opt.Required, Arg: "id", Help: "The broker whose log levels are meant."},
			{Name: "ip", Arity: opt.Required, Arg: "address", Help: "The client address."},
			{Name: "ip-defaults", Help: "The default for all addresses."},
			{Name: "group", Arity: opt.Required, Arg: "id", Help: "The group."},
			{Name: "client-metrics", Arity: opt.Required, Arg: "name", Help: "The client metrics subscription."},
		},
	}
}

// entity is what a configuration belongs to. Users and clients may come as a pair.
type entity struct {
	kind      string // plural, as --entity-type spells it
	name      string
	named     bool
	isDefault bool
}

// configsRun is one run of kafka-configs.
type configsRun struct {
	*Env
	*opt.Options
	client     *kgo.Client
	controller *kgo.Broker // where --bootstrap-controller led; nil otherwise
	entities   []entity
}

func configs(env *Env, args []string) int {
	spec := configsSpec()
	o, err := spec.Parse(args)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	if code := env.preamble(spec, o, args); code >= 0 {
		return code
	}
	if o.Count("describe", "alter") != 1 {
		return env.usage(spec, "Command must include exactly one action: --describe, --alter")
	}
	entities, err := checkConfigs(o)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	p, client, err := env.configsClient(o)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	defer client.Close()
	ctx, cancel := apiContext(p)
	defer cancel()
	c := &configsRun{Env: env, Options: o, client: client, entities: entities}
	if o.Has("bootstrap-controller") {
		c.controller, err = activeController(ctx, client)
	}
	switch {
	case err != nil:
	case o.Has("describe"):
		err = c.describe(ctx)
	default:
		err = c.alter(ctx)
	}
	var plain *opt.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &plain):
		fmt.Fprintln(env.Err, err)
	default:
		fmt.Fprintf(env.Err, "Error while executing config command with args '%s'\n%s\n", strings.Join(args, " "),
			classOf(err, "configs"))
	}
	return 1
}

// configsClient connects to brokers, or to the controller that --bootstrap-controller names.
func (env *Env) configsClient(o *opt.Options) (props, *kgo.Client, error) {
	if !o.Has("bootstrap-controller") {
		return env.adminFor(o)
	}
	p := make(props)
	if file := o.Or("command-config", ""); file != "" {
		var err error
		if p, err = loadProps(file); err != nil {
			return nil, nil, errors.New(textOf(err, ""))
		}
	}
	client, err := env.connect(adminClient, o.Or("bootstrap-controller", ""), p)
	if err != nil {
		return nil, nil, fmt.Errorf("Failed to create new KafkaAdminClient\n%w", err)
	}
	return p, client, nil
}

// shorthand is an option that gives an entity's type and name at once.
type shorthand struct{ flag, kind string }

func shorthands() []shorthand {
	return []shorthand{
		{"topic", "topics"},
		{"client", "clients"},
		{"user", "users"},
		{"broker", "brokers"},
		{"broker-logger", "broker-loggers"},
		{"ip", "ips"},
		{"client-metrics", "client-metrics"},
		{
			"group",
			"groups",
		},
	}
}

// entitiesOf gathers the entities in the order given: types first come with the names in the same order.
func entitiesOf(o *opt.Options) []entity {
	var all []entity
	for _, kind := range o.All("entity-type") {
		all = append(all, entity{kind: kind})
	}
	names := o.All("entity-name")
	for i := range all {
		if i < len(names) {
			all[i].name, all[i].named = names[i], true
		} else if o.Has("entity-default") {
			all[i].isDefault = true
		}
	}
	for _, s := range shorthands() {
		if o.Has(s.flag) {
			all = append(all, entity{kind: s.kind, name: o.Or(s.flag, ""), named: true})
		}
		if o.Has(s.flag + "-defaults") {
			all = append(all, entity{kind: s.kind, isDefault: true})
		}
	}
	return all
}

const entityKinds = "broker-loggers, topics, clients, users, brokers, ips, client-metrics, groups"

func checkConfigs(o *opt.Options) ([]entity, error) {
	entities := entitiesOf(o)
	if len(entities) == 0 {
		return nil, errors.New("At least one entity type must be specified")
	}
	seen := make(map[string]bool)
	for _, e := range entities {
		if !strings.Contains(", "+entityKinds+",", ", "+e.kind+",") {
			return nil, fmt.Errorf("Invalid entity type %s, the entity type must be one of %s with a "+
				"--bootstrap-server "+
				"or --bootstrap-controller argument", e.kind, entityKinds)
		}
		if seen[e.kind] {
			return nil, fmt.Errorf("Duplicate entity type(s) specified: %s", e.kind)
		}
		seen[e.kind] = true
	}
	if len(entities) > 1 && !(len(entities) == 2 && seen["users"] && seen["clients"]) {
		return nil, errors.New("Only 'users' and 'clients' entity types may be specified together")
	}
	if !o.Has("bootstrap-server", "bootstrap-controller") {
		return nil, errors.New("Either --bootstrap-server or --bootstrap-controller must be specified.")
	}
	if o.Has("bootstrap-server") && o.Has("bootstrap-controller") {
		return nil, errors.New("Only one of --bootstrap-server or --bootstrap-controller can be specified.")
	}
	for _, e := range entities {
		if err := checkEntity(o, e); err != nil {
			return nil, err
		}
	}
	if o.Has("alter") && !o.Has("add-config", "add-config-file", "delete-config") {
		return nil, errors.New("At least one of --add-config, --add-config-file, or --delete-config must be " +
			"specified " +
			"with --alter")
	}
	if o.Has("add-config") && o.Has("add-config-file") {
		return nil, errors.New("Only one of --add-config or --add-config-file must be specified")
	}
	return entities, nil
}

func checkEntity(o *opt.Options, e entity) error {
	if e.named && (e.kind == "brokers" || e.kind == "broker-loggers") {
		if _, err := strconv.ParseInt(e.name, 10, 32); err != nil {
			return fmt.Errorf("The entity name for %s must be a valid integer broker id, but it is: %s", e.kind,
				e.name)
		}
	}
	if !o.Has("alter") {
		if e.kind == "broker-loggers" && !e.named {
			return fmt.Errorf("An entity name must be specified with --describe of %s", e.kind)
		}
		return nil
	}
	switch e.kind {
	case "topics", "broker-loggers", "client-metrics", "groups":
		if !e.named {
			return fmt.Errorf("An entity name must be specified with --alter of %s", e.kind)
		}
	default:
		if !e.named && !e.isDefault {
			return fmt.Errorf("An entity-name or default entity must be specified with --alter of users, clients, " +
				"brokers or ips")
		}
	}
	return nil
}

// setting is one key to set.
type setting struct{ key, value string }

// added reads --add-config or --add-config-file, sorted by key.
func (c *configsRun) added() ([]setting, error) {
	var list []setting
	if file := c.Or("add-config-file", ""); file != "" {
		p, err := loadProps(file)
		if err != nil {
			return nil, err
		}
		for k, v := range p {
			list = append(list, setting{k, v})
		}
	}
	for _, text := range c.All("add-config") {
		more, err := parseSettings(text)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].key < list[j].key })
	return list, nil
}

// parseSettings reads k=v,k=[v,v]: commas inside brackets belong to the value.
func parseSettings(text string) ([]setting, error) {
	var list []setting
	depth, start := 0, 0
	flush := func(end int) error {
		part := strings.TrimSpace(text[start:end])
		if part == "" {
			return nil
		}
		k, v, ok := strings.Cut(part, "=")
		if !ok {
			return opt.Errorf("Invalid entity config: all configs to be added must be in the format \"key=val\" or  " +
				"\"key=[val1,val2]\" to group values which contain commas.")
		}
		v = strings.TrimSpace(v)
		if strings.HasPrefix(v, "[") && strings.HasSuffix(v, "]") {
			v = v[1 : len(v)-1]
		}
		list = append(list, setting{strings.TrimSpace(k), v})
		return nil
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '[':
			depth++
		case text[i] == ']':
			depth--
		case text[i] == ',' && depth <= 0:
			if err := flush(i); err != nil {
				return nil, err
			}
			start = i + 1
		}
	}
	return list, flush(len(text))
}

// deleted reads --delete-config.
func (c *configsRun) deleted() []string {
	var keys []string
	for _, text := range c.All("delete-config") {
		for k := range strings.SplitSeq(text, ",") {
			if k = strings.TrimSpace(k); k != "" {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

func (c *configsRun) alter(ctx context.Context) error {
	add, err := c.added()
	if err != nil {
		return err
	}
	e := c.entities[len(c.entities)-1]
	switch c.entities[0].kind {
	case "users", "clients", "ips":
		err = c.alterQuotas(ctx, add, c.deleted())
	default:
		err = c.alterResource(ctx, c.entities[0], add, c.deleted())
	}
	if err != nil {
		return err
	}
	for _, other := range c.entities {
		if other.kind == "clients" { // of a user and a client, Apache's tool names the client
			e = other
		}
	}
	if e.isDefault {
		fmt.Fprintf(c.Out, "Completed updating default config for %s in the cluster.\n", e.kind)
		return nil
	}
	fmt.Fprintf(c.Out, "Completed updating config for %s %s.\n", strings.TrimSuffix(e.kind, "s"), e.name)
	return nil
}
