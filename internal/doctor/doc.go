// Package doctor looks for what will go wrong: in a configuration and its data folders while the node is
// down, and in a cluster that runs. It reads, and changes nothing unless asked to. Each finding says what is
// wrong, where, and what to do about it.
//
// A check is a method of examination that adds findings. What it asks of the machine and the network goes
// through Host, so that every finding has a test.
package doctor

import (
	"context"
	"path/filepath"

	"github.com/kalda/kalda/internal/config"
)

// Severity says how bad a finding is.
type Severity int8

// The severities.
const (
	Info    Severity = iota // good to know
	Warning                 // works, and will hurt
	Error                   // doesn't work, or loses data
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "info"
	}
}

// MarshalText gives the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing that was found.
type Finding struct {
	Severity Severity `json:"severity"`
	Check    string   `json:"check"` // config, jvm, names, ports, limits, clock, disk, data, ...
	What     string   `json:"what"`
	Where    string   `json:"where"`
	Do       string   `json:"do"`
}

// Options say what to examine.
type Options struct {
	File      string   // server.properties; empty: what a node without a file runs with
	Overrides []string // key=value
	Bootstrap string   // host:port of a running node; empty: offline checks only
	Offline   bool     // examine configuration and folders
	Deep      bool     // verify all of the logs
	Repair    bool     // cut a damaged metadata log, without which no node starts
	Host      *Host    // nil: this machine
}

// Report is the outcome.
type Report struct {
	Findings []Finding
	Checked  []string // what was looked at, one line each
}

// Worst is the severity of the worst finding.
func (r *Report) Worst() Severity {
	worst := Info
	for i := range r.Findings {
		worst = max(worst, r.Findings[i].Severity)
	}
	return worst
}

// ExitCode is 0 if all is well, 1 with warnings, 2 with errors.
func (r *Report) ExitCode() int { return int(r.Worst()) }

func (r *Report) count(s Severity) (n int) {
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

type examination struct {
	Report
	o       *Options
	host    *Host
	cfg     *config.Server // nil if it can't be loaded
	busy    map[string]int // log directories that a process holds, and its id
	logs    int            // partitions found
	cluster string         // id in meta.properties
}

func (x *examination) add(s Severity, check, where, what, do string) {
	x.Findings = append(x.Findings, Finding{s, check, what, where, do})
}

func (x *examination) checked(line string) { x.Checked = append(x.Checked, line) }

// Run examines.
func Run(ctx context.Context, o *Options) *Report {
	x := &examination{o: o, host: o.Host, busy: map[string]int{}}
	if x.host == nil {
		x.host = ThisHost()
	}
	if o.Offline {
		x.loadConfig()
	}
	if x.cfg != nil {
		x.keys()
		x.factors()
		x.names(ctx)
		x.locks()
		x.ports()
		x.folders()
		x.volumes()
		x.limits()
		x.memory()
	}
	x.environment()
	x.clock()
	if o.Bootstrap != "" {
		x.online(ctx)
	}
	return &x.Report
}

// file is how findings call the configuration.
func (x *examination) file(key string) string {
	if x.o.File == "" {
		return key
	}
	return filepath.Base(x.o.File) + ": " + key
}
