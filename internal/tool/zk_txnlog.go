package tool

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/disk/zklog"
	"github.com/kalda/kalda/internal/format/jute"
)

const zkTxnLogUsage = `usage: TxnLogToolkit [-dhrvc] <txn_log_file_name> (-z <zxid>)
 -c,--chop         Chop mode. Chop txn file to a zxid.
 -d,--dump         Dump mode. Dump all entries of the log file with printing the content of ` +
	`a nodepath (default)
 -h,--help         Print help message
 -r,--recover      Recovery mode. Re-calculate CRC for broken entries.
 -v,--verbose      Be verbose in recovery mode: print all entries, not just fixed ones.
 -y,--yes          Non-interactive mode: repair all CRC errors without asking
 -z,--zxid <arg>   Used with chop. Zxid to which to chop.
`

// txnLogTool is a command line of zkTxnLogToolkit.
type txnLogTool struct {
	env                         *Env
	recover, verbose, yes, chop bool
	file, zxid                  string
	answers                     *bufio.Reader
	broken, read                int
}

// zkTxnLog is zkTxnLogToolkit: it shows a transaction log, mends checksums, or cuts it after a transaction.
func zkTxnLog(env *Env, args []string) int {
	t := &txnLogTool{env: env, answers: bufio.NewReader(env.In)}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; a {
		case "-h", "--help":
			fmt.Fprint(env.Out, zkTxnLogUsage)
			return 0
		case "-d", "--dump":
		case "-r", "--recover":
			t.recover = true
		case "-v", "--verbose":
			t.verbose = true
		case "-y", "--yes":
			t.yes = true
		case "-c", "--chop":
			t.chop = true
		case "-z", "--zxid":
			if i++; i < len(args) {
				t.zxid = args[i]
			}
		default:
			t.file = a
		}
	}
	if t.file == "" {
		fmt.Fprint(env.Out, zkTxnLogUsage)
		return 1
	}
	if err := t.run(); err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	return 0
}

func (t *txnLogTool) run() error {
	if _, err := os.Stat(t.file); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("File doesn't exist or not readable: %s", t.file)
		}
		return err
	}
	fixed := t.file + ".fixed"
	switch {
	case t.chop && t.zxid != "":
		return t.cut()
	case t.recover:
		if _, err := os.Stat(fixed); err == nil {
			return fmt.Errorf("Recovery file %s already exists or not writable", fixed)
		}
	}
	fmt.Fprintln(t.env.Out, "ZooKeeper Transactional Log File with dbid 0 txnlog format version 2")
	if err := zklog.Scan(t.file, t.show); err != nil {
		return err
	}
	fmt.Fprintf(t.env.Out, "EOF reached after %d txns.\n", t.read)
	if !t.recover {
		return nil
	}
	if err := zklog.Rewrite(t.file, fixed); err != nil {
		return err
	}
	fmt.Fprintf(t.env.Out, "Recovery file %s has been written with %d fixed CRC error(s)\n", fixed, t.broken)
	return nil
}

// show prints a record.
func (t *txnLogTool) show(r zklog.Record) error {
	t.read++
	line := txnLine(r.Data)
	if !r.Valid {
		if !t.recover {
			fmt.Fprintf(t.env.Out, "CRC ERROR - %s\n", line)
		} else if err := t.fix(line); err != nil {
			return err
		}
	}
	if !t.recover || t.verbose {
		fmt.Fprintln(t.env.Out, line)
	}
	return nil
}

// fix asks whether a record's checksum shall be mended.
func (t *txnLogTool) fix(line string) error {
	t.broken++
	for !t.yes {
		fmt.Fprintf(t.env.Out, "CRC ERROR - %s\nWould you like to fix it (Yes/No/Abort) ? ", line)
		text, err := t.answers.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(text))
		switch {
		case answer == "y" || answer == "yes":
			fmt.Fprintf(t.env.Out, "CRC FIXED - %s\n", line)
			return nil
		case answer == "n" || answer == "no" || answer == "a" || answer == "abort" || err != nil:
			return errors.New("recovery aborted: nothing is written") // a file with a bad record is no use
		}
	}
	fmt.Fprintf(t.env.Out, "CRC FIXED - %s\n", line)
	return nil
}

// cut drops what is after a transaction.
func (t *txnLogTool) cut() error {
	zxid, err := strconv.ParseUint(t.zxid, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is no zxid", t.zxid)
	}
	end := int64(-1)
	err = zklog.Scan(t.file, func(r zklog.Record) error {
		if r.Zxid == jute.Zxid(zxid) {
			end = r.End()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if end < 0 {
		return fmt.Errorf("transaction 0x%x is not in %s: nothing was cut off", zxid, t.file)
	}
	return os.Truncate(t.file, end)
}

// txnLine is one transaction as Apache's tool prints it.
func txnLine(data []byte) string {
	txn, err := jute.DecodeTxn(data)
	if err != nil {
		return fmt.Sprintf("zxid %v: %v", zklog.EntryZxid(data), err)
	}
	h := &txn.Header
	when := time.UnixMilli(h.Time).Format("1/2/06, 3:04:05 PM MST")
	return fmt.Sprintf("%s session %v cxid 0x%x zxid %v %s %s", when, h.ClientID,
		uint32(h.Cxid), h.Zxid, txnName(h.Type), txnBody(txn.Body))
}

func txnName(op jute.OpCode) string {
	if op == jute.OpCreateTTL {
		return "createTTL"
	}
	return op.String()
}

func txnBody(body jute.Record) string {
	switch b := body.(type) {
	case *jute.CreateSessionTxn:
		return strconv.Itoa(int(b.Timeout))
	case *jute.CloseSessionTxn:
		return "v{'" + strings.Join(b.Paths, ",'") + "}"
	case *jute.CreateTxn:
		return fmt.Sprintf("%s,%s,%s,%v,%d", b.Path, text(b.Data), aclLines(b.ACL), b.Ephemeral, b.ParentCVersion)
	case *jute.CreateTTLTxn:
		return fmt.Sprintf("%s,%s,%s,%d,%d", b.Path, text(b.Data), aclLines(b.ACL), b.ParentCVersion, b.TTL)
	case *jute.CreateContainerTxn:
		return fmt.Sprintf("%s,%s,%s,%d", b.Path, text(b.Data), aclLines(b.ACL), b.ParentCVersion)
	case *jute.SetDataTxn:
		return fmt.Sprintf("%s,%s,%d", b.Path, text(b.Data), b.Version)
	case *jute.SetACLTxn:
		var acl []string
		for _, a := range b.ACL {
			acl = append(acl, fmt.Sprintf("s{%d,%s}", a.Perms, identity(a.ID)))
		}
		return fmt.Sprintf("'%s,v{%s},%d", b.Path, strings.Join(acl, ","), b.Version)
	case *jute.DeleteTxn:
		return "'" + b.Path
	case *jute.ErrorTxn:
		return strconv.Itoa(int(b.Err))
	case *jute.MultiTxn:
		var ops []string
		for _, s := range b.Txns {
			ops = append(ops, txnName(s.Type)+":"+text(s.Body.Append(nil)))
		}
		return strings.Join(ops, ";")
	}
	return ""
}

// text is bytes as a string, with U+FFFD for each that fits nowhere.
func text(b []byte) string { return string([]rune(string(b))) }

func identity(id jute.ID) string { return "s{'" + id.Scheme + ",'" + id.ID + "}" }

func aclLines(acl []jute.ACL) string {
	var out []string
	for _, a := range acl {
		out = append(out, fmt.Sprintf("%d,%s\n", a.Perms, identity(a.ID)))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
