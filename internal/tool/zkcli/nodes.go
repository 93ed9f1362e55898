package zkcli

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/tool/zk"
)

// oldWatch reads the form of old releases, where any word after the path asks for a watch.
func (s *shell) oldWatch(p *parsed, options string) bool {
	if len(p.args) > 2 {
		name := p.args[0]
		fmt.Fprintf(s.err, "'%s path [watch]' has been deprecated. Please use '%s %s path' instead.\n", name, name,
			options)
		return true
	}
	return p.has("w")
}

// maxTTL is 40 bits of milliseconds, which is what a node's owner has room for.
const maxTTL = 1<<40 - 1

func doCreate(s *shell, p *parsed) error {
	n := zk.Node{Path: p.args[1], ACL: jute.OpenACL()}
	if err := createFlags(p, &n); err != nil {
		return err
	}
	if len(p.args) > 2 {
		n.Data = []byte(p.args[2])
	}
	if len(p.args) > 3 {
		n.ACL = parseACL(s.err, p.args[3])
	}
	checked := n.Path
	if p.has("s") { // its number will be added
		checked += "1"
	}
	if err := checkPath(checked); err != nil {
		return err
	}
	var path string
	err := emptyACL(n.ACL)
	if err == nil {
		path, err = s.session.Create(n)
	}
	switch zk.CodeOf(err) {
	case jute.OK:
		fmt.Fprintf(s.err, "Created %s\n", path)
	case jute.InvalidACL:
		fmt.Fprintln(s.err, err)
	case jute.EphemeralOnLocalSession:
		return problem("Unable to create ephemeral node on a local session")
	}
	return err
}

// emptyACL refuses no ACL at all, as Apache's client does without asking a server.
func emptyACL(acl []jute.ACL) error {
	if len(acl) == 0 {
		return &zk.Error{Code: jute.InvalidACL}
	}
	return nil
}

func createFlags(p *parsed, n *zk.Node) error {
	e, sequential, c, t := p.has("e"), p.has("s"), p.has("c"), p.has("t")
	if c && (e || sequential) {
		return problem("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.")
	}
	if t {
		ttl, err := number[int64](p.opts["t"])
		switch {
		case err != nil:
			return problem("-t argument must be a long value")
		case e:
			return problem("TTLs cannot be used with Ephemeral znodes")
		case c:
			return problem("TTLs cannot be used with Container znodes")
		case ttl <= 0 || ttl > maxTTL:
			return problem(fmt.Sprintf("ttl must be positive and cannot be larger than: %d", int64(maxTTL)))
		}
		n.TTL = ttl
	}
	switch {
	case c:
		n.Flags = jute.FlagContainer
	case t && sequential:
		n.Flags = jute.FlagPersistentSequentialTTL
	case t:
		n.Flags = jute.FlagPersistentTTL
	case e && sequential:
		n.Flags = jute.FlagEphemeralSequential
	case e:
		n.Flags = jute.FlagEphemeral
	case sequential:
		n.Flags = jute.FlagPersistentSequential
	}
	return nil
}

func doGet(s *shell, p *parsed) error {
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	data, stat, err := s.session.Get(p.args[1], s.oldWatch(p, "[-s] [-w]"))
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte("null")
	}
	switch {
	case p.has("b"):
		fmt.Fprintln(s.out, base64.StdEncoding.EncodeToString(data))
	case p.has("x"):
		var b strings.Builder
		writeDump(&b, data)
		fmt.Fprint(s.out, b.String())
	default:
		fmt.Fprintln(s.out, strings.ToValidUTF8(string(data), "\uFFFD"))
	}
	s.showStat(p, stat)
	return nil
}

func doSet(s *shell, p *parsed) error {
	data := []byte(p.args[2])
	if p.has("b") {
		var err error
		if data, err = base64.StdEncoding.DecodeString(p.args[2]); err != nil {
			return problem(err.Error())
		}
	}
	version, err := versionOf(p)
	if err != nil {
		return err
	}
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	stat, err := s.session.Set(p.args[1], data, version)
	if err != nil {
		return err
	}
	s.showStat(p, stat)
	return nil
}

func doDelete(s *shell, p *parsed) error {
	if len(p.args) > 2 {
		fmt.Fprintln(s.err, "'delete path [version]' has been deprecated. "+
			"Please use 'delete [-v version] path' instead.")
	}
	version, err := versionOf(p)
	if err != nil {
		return err
	}
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	return s.session.Delete(p.args[1], version)
}

// deleteBatch is how many nodes are deleted together when nothing else is asked for.
const deleteBatch = 1000

func doDeleteAll(s *shell, p *parsed) error {
	batch := deleteBatch
	if p.has("b") {
		n, err := number[int32](p.opts["b"])
		if err != nil {
			return problem("-b argument must be an int value")
		}
		batch = max(int(n), 1)
	}
	root := p.args[1]
	if err := checkPath(root); err != nil {
		return err
	}
	tree := []string{root}
	for i := 0; i < len(tree); i++ { // parents stand before their children
		names, _, err := s.session.Children(tree[i], false)
		if err != nil {
			return err
		}
		for _, name := range names {
			tree = append(tree, join(tree[i], name))
		}
	}
	slices.Reverse(tree)
	failed := false
	for some := range slices.Chunk(tree, batch) {
		failed = s.session.DeleteAll(some) != nil || failed
	}
	if failed {
		return problem("Failed to delete some node(s) in the subtree!")
	}
	return nil
}

func doStat(s *shell, p *parsed) error {
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	stat, err := s.session.Exists(p.args[1], s.oldWatch(p, "[-w]"))
	if err != nil {
		return err
	}
	var b strings.Builder
	writeStat(&b, stat)
	fmt.Fprint(s.out, b.String())
	return nil
}

func doList(s *shell, p *parsed) error {
	path := p.args[1]
	watch := s.oldWatch(p, "[-w]")
	if err := checkPath(path); err != nil {
		return err
	}
	if p.has("R") {
		return s.visit(path, watch, func(path string) { fmt.Fprintln(s.out, path) })
	}
	names, stat, err := s.session.Children(path, watch)
	if err != nil {
		return err
	}
	slices.Sort(names)
	fmt.Fprintln(s.out, list(names))
	s.showStat(p, stat)
	return nil
}

// visit calls f for a node, its children by name, then what is below each of those.
func (s *shell) visit(path string, watch bool, f func(string)) error {
	if _, _, err := s.session.Get(path, watch); err != nil {
		return err
	}
	f(path)
	return s.visitBelow(path, watch, f)
}

func (s *shell) visitBelow(path string, watch bool, f func(string)) error {
	names, _, err := s.session.Children(path, watch)
	if zk.CodeOf(err) == jute.NoNode {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		f(join(path, name))
	}
	for _, name := range names {
		if err := s.visitBelow(join(path, name), watch, f); err != nil {
			return err
		}
	}
	return nil
}

func doCount(s *shell, p *parsed) error {
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	n, err := s.session.AllChildrenNumber(p.args[1])
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, n)
	return nil
}

func doEphemerals(s *shell, p *parsed) error {
	path := "/"
	if len(p.args) > 1 {
		path = p.args[1]
	}
	if err := checkPath(path); err != nil {
		return err
	}
	names, err := s.session.Ephemerals(path)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, list(names))
	return nil
}

func doSync(s *shell, p *parsed) error {
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	err := s.session.Sync(p.args[1])
	if e, ok := errors.AsType[*zk.Error](err); ok {
		fmt.Fprintf(s.out, "Sync has failed. rc=%d\n", e.Code)
		return nil
	}
	fmt.Fprintln(s.out, "Sync is OK")
	return nil
}
