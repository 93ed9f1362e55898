package tool

import (
	"errors"
	"fmt"

	"github.com/kalda/kalda/internal/tool/opt"
)

// errHandled ends a tool whose messages have been printed already.
var errHandled = errors.New("handled")

// usageError is a mistake on the command line that is answered with the help text.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// asUsage turns a parser's complaint into one that shows the help text.
func asUsage(err error) error {
	if e, ok := errors.AsType[*opt.Error](err); ok {
		return &usageError{e.Text}
	}
	return err
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// preamble answers --help, --version and an empty command line as Apache's tools do: help goes to standard
// error and is a failure, since nothing was done. The code is -1 when the tool shall go on.
func (env *Env) preamble(s *opt.Spec, o *opt.Options, args []string) int {
	if len(args) == 0 || o.Has("help") {
		return env.usage(s, s.About)
	}
	if o.Has("version") {
		fmt.Fprintln(env.Out, KafkaVersion)
		return 0
	}
	return -1
}

// usage prints a message and the help text.
func (env *Env) usage(s *opt.Spec, message string) int {
	fmt.Fprintln(env.Err, message)
	s.WriteHelp(env.Err)
	return 1
}

// deprecated says on standard output, as Apache's tools do, that an option has a newer name.
func (env *Env) deprecated(o *opt.Options, format string, pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		old, now := pairs[i], pairs[i+1]
		if !o.Has(old) {
			continue
		}
		if o.Has(now) {
			return usagef("Options --%s and --%s cannot be specified together.", now, old)
		}
		fmt.Fprintf(env.Out, format+"\n", old, now)
	}
	return nil
}

// either returns the values of the option under its new or its old name.
func either(o *opt.Options, now, old string) []string {
	return append(append([]string(nil), o.All(old)...), o.All(now)...)
}
