package tool

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/kalda/kalda/internal/doctor"
	"github.com/kalda/kalda/internal/tool/opt"
)

const doctorAbout = `Looks for what will go wrong, in a configuration and its data folders (the node may run
or not) and in a running cluster. Changes nothing without --repair.
Usage: kalda doctor [server.properties] [options]
Exit code: 0 all is well (there may be remarks), 1 warnings, 2 errors or a wrong command line.`

// doctorTool is `kalda doctor`.
func doctorTool(env *Env, args []string) int {
	spec := &opt.Spec{About: doctorAbout, Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Short: "b", Arity: opt.Required, Arg: "host:port",
			Help: "A running node to examine too; without a file, examine it alone.",
		},
		{
			Name: "override", Arity: opt.Required, Arg: "key=value",
			Help: "Replaces one property of the file; repeatable.",
		},
		{Name: "deep", Help: "Verify all batches of the logs, not only those past the recovery points."},
		{
			Name: "repair",
			Help: "Cut a metadata log that is damaged before its end, with which the node doesn't start. What is " +
				"cut off is kept beside it.",
		},
		{Name: "json", Help: "Write the findings as JSON."},
		{Name: "verbose", Short: "v", Help: "Tell what was found to be in order, too."},
	}}
	o, err := spec.Parse(args)
	if err == nil && len(o.Rest) > 1 {
		err = opt.Errorf("One file is expected, not %d", len(o.Rest))
	}
	switch {
	case err != nil:
		env.usage(spec, err.Error())
		return 2
	case o.Has("help"):
		fmt.Fprintln(env.Out, doctorAbout)
		spec.WriteHelp(env.Out)
		return 0
	case o.Has("version"):
		fmt.Fprintln(env.Out, versionLine())
		return 0
	}
	in := &doctor.Options{
		Overrides: o.All("override"), Bootstrap: o.Or("bootstrap-server", ""),
		Deep: o.Has("deep"), Repair: o.Has("repair"),
	}
	if len(o.Rest) == 1 {
		in.File = o.Rest[0]
	}
	in.Offline = in.File != "" || in.Bootstrap == "" || len(in.Overrides) > 0
	if in.Bootstrap != "" {
		if _, err := seedBrokers(in.Bootstrap); err != nil {
			fmt.Fprintln(env.Err, err)
			return 2
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := doctor.Run(ctx, in)
	if !o.Has("json") {
		r.Text(env.Out, o.Has("verbose"))
	} else if err := r.JSON(env.Out); err != nil {
		fmt.Fprintln(env.Err, err)
		return 2
	}
	return r.ExitCode()
}
