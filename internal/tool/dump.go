package tool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/tool/opt"
)

func dumpSpec() *opt.Spec {
	return &opt.Spec{About: "This tool helps to parse a log file and dump its contents to the console, " +
		"useful for " +
		"debugging a seemingly corrupt log segment.", Flags: []opt.Flag{
		{Name: "files", Arity: opt.Required, Arg: "file,...", Help: "REQUIRED: segments, indexes, snapshots to " +
			"dump."},
		{Name: "print-data-log", Help: "Print keys and values; any decoder implies it."},
		{Name: "deep-iteration", Help: "Go through the records of each batch; --print-data-log implies it."},
		{Name: "verify-index-only", Help: "Check indexes against their segments without printing them."},
		{Name: "index-sanity-check", Help: "Check indexes as a broker does when it starts."},
		{Name: "max-message-size", Arity: opt.Required, Arg: "bytes", Help: "The largest batch (default 5242880)."},
		{Name: "max-bytes", Arity: opt.Required, Arg: "bytes", Help: "Stop after so many bytes of batches."},
		{Name: "value-decoder-class", Arity: opt.Optional, Arg: "class", Help: "String, Integer or LongDecoder."},
		{Name: "key-decoder-class", Arity: opt.Optional, Arg: "class", Help: "String, Integer or LongDecoder."},
		{Name: "offsets-decoder", Help: "Decode records of __consumer_offsets."},
		{Name: "transaction-log-decoder", Help: "Decode records of __transaction_state."},
		{Name: "cluster-metadata-decoder", Help: "Decode records of __cluster_metadata."},
		{Name: "remote-log-metadata-decoder", Help: "Decode records of __remote_log_metadata."},
		{Name: "share-group-state-decoder", Help: "Decode records of __share_group_state."},
		{Name: "skip-record-metadata", Help: "Leave the records' metadata out, and control records."},
	}}
}

// dumpLog is kafka-dump-log.
func dumpLog(env *Env, args []string) int {
	spec := dumpSpec()
	o, err := spec.Parse(args)
	if err != nil {
		return env.usage(spec, err.Error())
	}
	if code := env.preamble(spec, o, args); code >= 0 {
		return code
	}
	if err := o.Need("files"); err != nil {
		return env.usage(spec, err.Error())
	}
	d := &dump{Env: env, out: bufio.NewWriterSize(env.Out, 64<<10)}
	err = d.settings(o)
	if err == nil {
		err = d.files(o.Or("files", ""))
	}
	if flushed := d.out.Flush(); err == nil {
		err = flushed
	}
	var bad *opt.Error
	switch {
	case err == nil:
		d.complain()
		return 0
	case errors.As(err, &bad):
		return env.usage(spec, err.Error())
	}
	fmt.Fprintln(env.Err, err)
	return 1
}

// dump is one run of kafka-dump-log.
type dump struct {
	*Env
	out        *bufio.Writer
	deep       bool
	print      bool // keys and values
	skip       bool // records' metadata
	verify     bool // indexes, without printing them
	sanity     bool // of indexes
	maxBytes   int64
	maxMessage int64
	decode     recordDecoder
	// What is wrong, told at the end, by file in the order of files.
	mismatches, unordered, missing, gaps complaints
}

// complaints are lines by file.
type complaints struct {
	files []string
	lines map[string][]string
}

func (c *complaints) add(file, format string, args ...any) {
	if c.lines == nil {
		c.lines = make(map[string][]string)
	}
	if c.lines[file] == nil {
		c.files = append(c.files, file)
	}
	c.lines[file] = append(c.lines[file], fmt.Sprintf(format, args...))
}

func (c *complaints) tell(w io.Writer, title string) {
	for _, f := range c.files {
		fmt.Fprintln(w, title+f)
		for _, l := range c.lines[f] {
			fmt.Fprintln(w, l)
		}
	}
}

func (d *dump) settings(o *opt.Options) (err error) {
	d.skip, d.verify, d.sanity = o.Has("skip-record-metadata"), o.Has("verify-index-only"),
		o.Has("index-sanity-check")
	if d.maxBytes, err = o.Int64("max-bytes", noLimit); err != nil {
		return err
	}
	if d.maxMessage, err = o.Int64("max-message-size", 5<<20); err != nil {
		return err
	}
	d.print = o.Has("print-data-log", "value-decoder-class", "key-decoder-class")
	for _, kind := range []struct {
		flag   string
		decode recordDecoder
	}{
		{"offsets-decoder", decodeOffsets},
		{"transaction-log-decoder", decodeTransaction},
		{"cluster-metadata-decoder", decodeMetadata},
		{"remote-log-metadata-decoder", decodeRemote},
		{"share-group-state-decoder", decodeShare},
	} {
		if o.Has(kind.flag) {
			d.print, d.decode = true, kind.decode
			break
		}
	}
	d.deep = d.print || o.Has("deep-iteration")
	if d.decode == nil {
		d.decode, err = plainDecoder(o.Or("key-decoder-class", ""), o.Or("value-decoder-class", ""))
	}
	return err
}

// noLimit is what Apache's tool takes for no limit of bytes.
const noLimit = 1<<31 - 1

func (d *dump) files(list string) error {
	for file := range strings.SplitSeq(list, ",") {
		fmt.Fprintf(d.out, "Dumping %s\n", file)
		var err error
		switch suffix := filepath.Ext(file); suffix {
		case ".log", ".checkpoint":
			err = d.segment(file, suffix)
		case ".index":
			err = d.offsetIndex(file)
		case ".timeindex":
			err = d.timeIndex(file)
		case ".txnindex":
			err = d.txnIndex(file)
		case ".snapshot":
			err = d.producers(file)
		default:
			fmt.Fprintf(d.Err, "Ignoring unknown file %s\n", file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// complain tells what was wrong.
func (d *dump) complain() {
	d.mismatches.tell(d.Err, "Mismatches in :")
	d.unordered.tell(d.Err, "Found out of order timestamp in :")
	d.missing.tell(d.Err, "The following indexed offsets are not found in :")
	d.gaps.tell(d.Err, "Non-consecutive offsets in ")
}

// baseOffset is the number that a segment's files are named by.
func baseOffset(file string) (int64, error) {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("java.lang.NumberFormatException: For input string: \"%s\"", name)
	}
	return n, nil
}

// head prints where a segment or a snapshot starts.
func (d *dump) head(file, suffix string) error {
	name := strings.TrimSuffix(filepath.Base(file), suffix)
	if suffix == ".log" {
		n, err := baseOffset(file)
		if err == nil {
			fmt.Fprintf(d.out, "Log starting offset: %d\n", n)
		}
		return err
	}
	if name == "bootstrap" {
		fmt.Fprintln(d.out, "KRaft bootstrap snapshot")
		return nil
	}
	end, epoch, ok := strings.Cut(name, "-")
	n, err1 := strconv.ParseInt(end, 10, 64)
	e, err2 := strconv.ParseInt(epoch, 10, 32)
	if !ok || err1 != nil || err2 != nil {
		return fmt.Errorf("java.util.NoSuchElementException: No value present")
	}
	fmt.Fprintf(d.out, "Snapshot end offset: %d, epoch: %d\n", n, e)
	return nil
}

// missingFile is the message for a file that can't be read.
func missingFile(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errors.New(classOf(err, ""))
	}
	return err
}
