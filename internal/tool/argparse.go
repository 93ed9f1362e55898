package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kalda/kalda/internal/tool/opt"
)

// command is a sub-command of tools such as kafka-storage, whose first word says what to do.
type command struct {
	name     string
	spec     *opt.Spec
	required []string
	run      func(*opt.Options) int
}

// commands runs a tool made of sub-commands. Options in global may stand before the sub-command. Mistakes are
// answered with the usage and a line that begins with the tool's name and "error:", as Apache's tools do.
func (env *Env) commands(args []string, global *opt.Spec, all []command) int {
	args, err := expandFiles(args)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	before, word, after := splitCommand(global, args)
	for _, a := range before {
		if a == "-h" || a == "--help" || a == "-help" {
			env.describeCommands(env.Out, global, all)
			return 0
		}
	}
	if word == "" && len(before) == 1 && before[0] == "--version" {
		fmt.Fprintln(env.Out, KafkaVersion) // Apache's tools of this kind refuse it
		return 0
	}
	if word == "" {
		env.describeCommands(env.Err, nil, all)
		return env.complain("too few arguments")
	}
	for i := range all {
		if all[i].name == word {
			return env.runCommand(&all[i], global, before, after)
		}
	}
	env.describeCommands(env.Err, nil, all)
	return env.complain(fmt.Sprintf("invalid choice: '%s' (choose from '%s')", word, strings.Join(names(all),
		"', '")))
}

func (env *Env) complain(what string) int {
	fmt.Fprintf(env.Err, "%s: error: %s\n", env.Name, what)
	return 1
}

func names(all []command) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].name
	}
	return out
}

func (env *Env) describeCommands(w io.Writer, global *opt.Spec, all []command) {
	fmt.Fprintf(w, "usage: %s [-h] {%s} ...\n", env.Name, strings.Join(names(all), ","))
	if global == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", global.About)
	for i := range all {
		fmt.Fprintf(w, "  %-24s %s\n", all[i].name, all[i].spec.About)
	}
	if len(global.Flags) > 0 {
		fmt.Fprintln(w)
		global.WriteHelp(w)
	}
}

// splitCommand finds the sub-command: the first word that is no global option or its value.
func splitCommand(global *opt.Spec, args []string) (before []string, word string, after []string) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			return args[:i], args[i], args[i+1:]
		}
		if global.TakesValue(args[i]) {
			i++
		}
	}
	return args, "", nil
}

func (env *Env) runCommand(c *command, global *opt.Spec, before, after []string) int {
	spec := &opt.Spec{
		About: c.spec.About, Abbreviate: true,
		Flags: append(append([]opt.Flag(nil), c.spec.Flags...), global.Flags...),
	}
	for _, a := range after {
		if a == "-h" || a == "--help" || a == "-help" {
			fmt.Fprintf(env.Out, "usage: %s %s [options]\n\n%s\n\n", env.Name, c.name, c.spec.About)
			spec.WriteHelp(env.Out)
			return 0
		}
	}
	usage := func(what string) int {
		fmt.Fprintf(env.Err, "usage: %s %s [-h]%s\n", env.Name, c.name, spec.Line(c.required))
		return env.complain(what)
	}
	o, err := spec.Parse(append(append([]string(nil), before...), after...))
	if err != nil {
		return usage(err.Error())
	}
	if len(o.Rest) > 0 {
		return usage(fmt.Sprintf("unrecognized arguments: '%s'", strings.Join(o.Rest, " ")))
	}
	for _, name := range c.required {
		if !o.Has(name) {
			return usage(fmt.Sprintf("argument %s is required", spec.Both(name)))
		}
	}
	return c.run(o)
}

// lone runs a tool of this kind that has no sub-commands. Its own complaints are opt.Error and usageError.
func (env *Env) lone(args []string, spec *opt.Spec, required []string, do func(*opt.Options) error) int {
	for _, a := range args {
		if a == "-h" || a == "--help" || a == "-help" {
			args = nil
		}
	}
	if len(args) == 0 {
		fmt.Fprintf(env.Out, "usage: %s [-h]%s\n\n%s\n\n", env.Name, spec.Line(required), spec.About)
		spec.WriteHelp(env.Out)
		return 0
	}
	spec.Abbreviate = true
	o, err := spec.Parse(args)
	switch {
	case err != nil:
	case o.Has("version"):
		fmt.Fprintln(env.Out, KafkaVersion) // Apache's tools of this kind refuse it
		return 0
	case len(o.Rest) > 0:
		err = usagef("unrecognized arguments: '%s'", strings.Join(o.Rest, " "))
	default:
		if err = o.NeedArgument(required...); err == nil {
			err = do(o)
		}
	}
	var mistake *usageError
	var unreadable *opt.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &mistake), errors.As(err, &unreadable):
		fmt.Fprintf(env.Err, "usage: %s [-h]%s\n", env.Name, spec.Line(required))
		return env.complain(err.Error())
	case !errors.Is(err, errHandled):
		fmt.Fprintln(env.Err, classOf(err, env.Name))
	}
	return 1
}

// expandFiles replaces @file by the file's lines.
func expandFiles(args []string) ([]string, error) {
	var all []string
	for _, a := range args {
		file, ok := strings.CutPrefix(a, "@")
		if !ok {
			all = append(all, a)
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, strings.Split(strings.TrimRight(string(data), "\n"), "\n")...)
	}
	return all, nil
}
