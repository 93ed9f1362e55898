package tool

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/disk/zklog"
	"github.com/kalda/kalda/internal/format/jute"
)

const zkSnapshotUsage = `USAGE: SnapshotFormatter [-d|-json] snapshot_file
       -d dump the data for each znode
       -json dump znode info in json format
`

// zkSnapshot is zkSnapShotToolkit: it shows what is in a snapshot.
func zkSnapshot(env *Env, args []string) int {
	data, asJSON, file := false, false, ""
	for _, a := range args {
		switch a {
		case "-d":
			data = true
		case "-json":
			asJSON = true
		default:
			file = a
		}
	}
	if file == "" {
		fmt.Fprint(env.Err, zkSnapshotUsage)
		return 2
	}
	d := &snapDump{}
	info, err := zklog.ReadSnapshotFile(file, d)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(env.Err, "File '%s' does not exist.\n", file)
		return 2
	}
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 2
	}
	if asJSON {
		d.json(env, time.Now())
		return 0
	}
	d.text(env, info, data)
	return 0
}

// snapDump keeps a snapshot for printing.
type snapDump struct {
	nodes      []snapNode
	sessions   []snapSession
	ephemerals map[int64]int
}

type snapNode struct {
	path string
	node jute.DataNode
}

type snapSession struct {
	id      jute.SessionID
	timeout int32
}

func (d *snapDump) Session(id jute.SessionID, timeout int32) {
	d.sessions = append(d.sessions, snapSession{id, timeout})
}

func (d *snapDump) ACL(int64, []jute.ACL) {}

func (d *snapDump) Node(path string, n *jute.DataNode) error {
	c := *n
	c.Data = append([]byte(nil), n.Data...)
	if n.Data != nil && c.Data == nil {
		c.Data = []byte{}
	}
	if d.ephemerals == nil {
		d.ephemerals = map[int64]int{}
	}
	d.ephemerals[n.Stat.EphemeralOwner]++
	d.nodes = append(d.nodes, snapNode{path, c})
	return nil
}

// text prints every node, then the sessions, as Apache's formatter does.
func (d *snapDump) text(env *Env, info *zklog.SnapshotInfo, data bool) {
	// Apache counts the root twice: it has a second name, "/".
	fmt.Fprintf(env.Out, "ZNode Details (count=%d):\n----\n", len(d.nodes)+1)
	const date = "Mon Jan 02 15:04:05 MST 2006"
	for _, n := range d.nodes {
		s := &n.node.Stat
		name := n.path
		if name == "" {
			name = "/"
		}
		fmt.Fprintln(env.Out, name)
		fmt.Fprintf(env.Out, "  cZxid = 0x%014x\n  ctime = %s\n  mZxid = 0x%014x\n  mtime = %s\n"+
			"  pZxid = 0x%014x\n",
			uint64(s.Czxid), time.UnixMilli(s.Ctime).Format(date),
			uint64(s.Mzxid), time.UnixMilli(s.Mtime).Format(date), uint64(s.Pzxid))
		fmt.Fprintf(env.Out, "  cversion = %d\n  dataVersion = %d\n  aclVersion = %d\n  ephemeralOwner = 0x%014x\n",
			s.Cversion, s.Version, s.Aversion, uint64(s.EphemeralOwner))
		if data {
			fmt.Fprintf(env.Out, "  data = %s\n----\n", base64.StdEncoding.EncodeToString(n.node.Data))
		} else {
			fmt.Fprintf(env.Out, "  dataLength = %d\n----\n", len(n.node.Data))
		}
	}
	fmt.Fprintln(env.Out, "Session Details (sid, timeout, ephemeralCount):")
	for _, s := range d.sessions {
		fmt.Fprintf(env.Out, "0x%x, %d, %d\n", uint64(s.id), s.timeout, d.ephemerals[int64(s.id)])
	}
	fmt.Fprintf(env.Out, "----\nLast zxid: %v\n", info.Zxid)
}

// json prints the tree as ncdu's export format: a list is a node and its children.
func (d *snapDump) json(env *Env, now time.Time) {
	children := map[string][]int{}
	for i, n := range d.nodes {
		if n.path != "" {
			parent, _ := path.Split(n.path)
			parent = strings.TrimSuffix(parent, "/")
			children[parent] = append(children[parent], i)
		}
	}
	fmt.Fprintf(env.Out, `[1,0,{"progname":"SnapshotFormatter.java","progver":"0.01","timestamp":%d},`,
		now.UnixMilli())
	ino := 1000
	if len(d.nodes) > 0 {
		d.jsonNode(env, 0, &ino, children)
	}
	fmt.Fprint(env.Out, "]")
}

func (d *snapDump) jsonNode(env *Env, i int, ino *int, children map[string][]int) {
	n := d.nodes[i]
	*ino++
	name := n.path[strings.LastIndexByte(n.path, '/')+1:]
	if n.path == "" {
		name = "/"
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		quoted = []byte(`""`)
	}
	kids := children[n.path]
	if len(kids) > 0 {
		fmt.Fprint(env.Out, "[")
	}
	fmt.Fprintf(env.Out, `{"name":%s,"asize":%d,"dsize":%d,"dev":0,"ino":%d}`, quoted, len(n.node.Data),
		len(n.node.Data), *ino)
	for _, k := range kids {
		fmt.Fprint(env.Out, ",")
		d.jsonNode(env, k, ino, children)
	}
	if len(kids) > 0 {
		fmt.Fprint(env.Out, "]")
	}
}
