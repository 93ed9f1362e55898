package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

// listAllGroups is kafka-groups.
func listAllGroups(env *Env, args []string) int {
	spec := &opt.Spec{About: "This tool helps to list groups of all types.", Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
			Help: "REQUIRED: the brokers to ask.",
		},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
		{Name: "list", Help: "List the groups."},
		{Name: "group-type", Arity: opt.Required, Arg: "type", Help: "Only classic, consumer, share or streams " +
			"groups."},
		{Name: "protocol", Arity: opt.Required, Arg: "protocol", Help: "Only groups of that protocol type."},
		{Name: "consumer", Help: "Only consumer groups, classic and simple ones too."},
		{Name: "share", Help: "Only share groups."},
		{Name: "streams", Help: "Only streams groups."},
	}}
	check := func(o *opt.Options) error {
		if !o.Has("list") {
			return usagef("Command must include exactly one action: --list.")
		}
		for _, pair := range [][2]string{
			{"consumer", "group-type"},
			{"consumer", "protocol"},
			{
				"consumer",
				"share",
			},
			{"consumer", "streams"},
			{"share", "group-type"},
			{"share", "protocol"},
			{"share", "streams"},
			{"streams", "group-type"},
			{"streams", "protocol"},
		} {
			if err := o.Exclude(pair[0], pair[1]); err != nil {
				return asUsage(err)
			}
		}
		kinds := []string{"classic", "consumer", "share", "streams"}
		if t := o.Or("group-type", "classic"); !slices.Contains(kinds, strings.ToLower(t)) {
			return errors.New("java.lang.IllegalArgumentException: --group-type must be a valid group type.")
		}
		return nil
	}
	return env.adminTool(args, spec, []string{"bootstrap-server"},
		func(ctx context.Context, client *kgo.Client, o *opt.Options) error {
			if err := check(o); err != nil {
				return err
			}
			groups, err := allGroups(ctx, client)
			if err == nil {
				env.printGroups(slices.DeleteFunc(groups, func(g group) bool { return !g.wanted(o) }))
			}
			return err
		})
}

// group is one line of the list.
type group struct{ id, kind, protocol string }

func (g group) wanted(o *opt.Options) bool {
	kind := strings.ToLower(g.kind)
	switch {
	case o.Has("consumer"):
		return kind == "consumer" || kind == "classic" && (g.protocol == "consumer" || g.protocol == "")
	case o.Has("share"):
		return kind == "share"
	case o.Has("streams"):
		return kind == "streams"
	}
	return kind == strings.ToLower(o.Or("group-type", kind)) && g.protocol == o.Or("protocol", g.protocol)
}

// allGroups asks every broker for the groups that it coordinates.
func allGroups(ctx context.Context, client *kgo.Client) ([]group, error) {
	ids, err := brokerIDs(ctx, client)
	if err != nil {
		return nil, err
	}
	var all []group
	for _, id := range ids {
		resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, client.Broker(int(id)))
		if err == nil {
			err = answer(resp.ErrorCode, nil)
		}
		if err != nil {
			return nil, err
		}
		for _, g := range resp.Groups {
			kind := g.GroupType
			if kind == "" {
				kind = "classic" // of a broker that knows no other
			}
			all = append(all, group{g.Group, strings.ToUpper(kind[:1]) + strings.ToLower(kind[1:]), g.ProtocolType})
		}
	}
	slices.SortFunc(all, func(a, b group) int { return strings.Compare(a.id, b.id) })
	return all, nil
}

func (env *Env) printGroups(groups []group) {
	width := 20
	for _, g := range groups {
		width = max(width, len(g.id))
	}
	fmt.Fprintf(env.Out, "%-*s %-*s %-*s\n", width, "GROUP", width, "TYPE", width, "PROTOCOL")
	for _, g := range groups {
		fmt.Fprintf(env.Out, "%-*s %-*s %-*s \n", width, g.id, width, g.kind, width, g.protocol)
	}
}
