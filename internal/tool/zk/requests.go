package zk

import (
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// remote is the server's path for the caller's, and local the other way round.
func (s *Session) remote(path string) string {
	if s.cfg.Chroot == "" {
		return path
	}
	if path == "/" {
		return s.cfg.Chroot
	}
	return s.cfg.Chroot + path
}

func (s *Session) local(path string) string {
	if s.cfg.Chroot == "" {
		return path
	}
	rest, ok := strings.CutPrefix(path, s.cfg.Chroot)
	if !ok {
		return path
	}
	if rest == "" {
		return "/"
	}
	return rest
}

// do sends a request about the caller's path and decodes the reply. A request that sets no watch has none.
func (s *Session) do(op jute.OpCode, path string, req jute.Record, watch kinds) (jute.Record, error) {
	return s.doAt(op, path, s.remote(path), req, watch)
}

// doAt is do where the server's path is not the caller's in the chroot.
func (s *Session) doAt(op jute.OpCode, path, at string, req jute.Record, watch kinds) (jute.Record, error) {
	c := &call{op: op, watch: watch, path: at, reply: make(chan reply, 1)}
	if req != nil {
		c.frame = req.Append(nil)
	}
	s.submit(c)
	r := <-c.reply
	if r.code != jute.OK {
		return nil, &Error{r.code, path}
	}
	resp := jute.NewResponse(op)
	if resp == nil {
		return nil, nil
	}
	d := jute.NewDecoder(r.body, 0)
	resp.Decode(d)
	if d.Err() != nil {
		return nil, &Error{jute.MarshallingError, path}
	}
	return resp, nil
}

// ask is do for a reply of one type.
func ask[T jute.Record](s *Session, op jute.OpCode, path string, req jute.Record, watch kinds) (T, error) {
	r, err := s.do(op, path, req, watch)
	if err != nil {
		var none T
		return none, err
	}
	return r.(T), nil
}

// Node is what Create makes.
type Node struct {
	Path  string
	Data  []byte
	ACL   []jute.ACL
	Flags int32
	TTL   int64 // milliseconds, for the flags of nodes that have one
}

// Create makes a node and returns its path, which a sequential one's number has been added to.
func (s *Session) Create(n Node) (string, error) {
	req := jute.CreateRequest{Path: s.remote(n.Path), Data: n.Data, ACL: n.ACL, Flags: n.Flags}
	var r *jute.Create2Response
	var err error
	switch n.Flags {
	case jute.FlagPersistentTTL, jute.FlagPersistentSequentialTTL:
		all := &jute.CreateTTLRequest{CreateRequest: req, TTL: n.TTL}
		r, err = ask[*jute.Create2Response](s, jute.OpCreateTTL, n.Path, all, 0)
	case jute.FlagContainer:
		r, err = ask[*jute.Create2Response](s, jute.OpCreateContainer, n.Path, &req, 0)
	default:
		var p *jute.PathOnly
		if p, err = ask[*jute.PathOnly](s, jute.OpCreate, n.Path, &req, 0); err == nil {
			return s.local(p.Path), nil
		}
	}
	if err != nil {
		return "", err
	}
	return s.local(r.Path), nil
}

// Get reads a node, and watches it if told to.
func (s *Session) Get(path string, watch bool) ([]byte, *jute.Stat, error) {
	req := s.pathWatch(path, watch)
	r, err := ask[*jute.GetDataResponse](s, jute.OpGetData, path, req, when(watch, watchData))
	if err != nil {
		return nil, nil, err
	}
	return r.Data, &r.Stat, nil
}

// Exists reads a node's stat, and watches it if told to, even one that isn't there: that is an Error of
// NoNode.
func (s *Session) Exists(path string, watch bool) (*jute.Stat, error) {
	r, err := ask[*jute.StatResponse](s, jute.OpExists, path, s.pathWatch(path, watch), when(watch, watchData))
	if err != nil {
		return nil, err
	}
	return &r.Stat, nil
}

// Children reads the names of a node's children, in no order.
func (s *Session) Children(path string, watch bool) ([]string, *jute.Stat, error) {
	req := s.pathWatch(path, watch)
	r, err := ask[*jute.GetChildren2Response](s, jute.OpGetChildren2, path, req, when(watch, watchChild))
	if err != nil {
		return nil, nil, err
	}
	return r.Children, &r.Stat, nil
}

func (s *Session) pathWatch(path string, watch bool) *jute.PathWatch {
	return &jute.PathWatch{Path: s.remote(path), Watch: watch}
}

func when(watch bool, k kinds) kinds {
	if watch {
		return k
	}
	return 0
}

// Set writes a node's data; version -1 is any.
func (s *Session) Set(path string, data []byte, version int32) (*jute.Stat, error) {
	req := &jute.SetDataRequest{Path: s.remote(path), Data: data, Version: version}
	r, err := ask[*jute.StatResponse](s, jute.OpSetData, path, req, 0)
	if err != nil {
		return nil, err
	}
	return &r.Stat, nil
}

// Delete removes a node; version -1 is any.
func (s *Session) Delete(path string, version int32) error {
	_, err := s.do(jute.OpDelete, path, &jute.PathVersion{Path: s.remote(path), Version: version}, 0)
	return err
}

// DeleteAll removes nodes together: all or none. The error names the one that could not be removed.
func (s *Session) DeleteAll(paths []string) error {
	req := &jute.MultiRequest{}
	for _, path := range paths {
		body := &jute.PathVersion{Path: s.remote(path), Version: -1}
		req.Ops = append(req.Ops, jute.Op{Type: jute.OpDelete, Body: body})
	}
	r, err := ask[*jute.MultiResponse](s, jute.OpMulti, "", req, 0)
	if err != nil {
		return err
	}
	for i, result := range r.Results {
		if i < len(paths) && result.Err != jute.OK && result.Err != jute.RuntimeInconsistency {
			return &Error{result.Err, paths[i]}
		}
	}
	return nil
}

// ACL reads a node's ACL.
func (s *Session) ACL(path string) ([]jute.ACL, *jute.Stat, error) {
	r, err := ask[*jute.GetACLResponse](s, jute.OpGetACL, path, &jute.PathOnly{Path: s.remote(path)}, 0)
	if err != nil {
		return nil, nil, err
	}
	return r.ACL, &r.Stat, nil
}

// SetACL writes a node's ACL; version -1 is any.
func (s *Session) SetACL(path string, acl []jute.ACL, version int32) (*jute.Stat, error) {
	req := &jute.SetACLRequest{Path: s.remote(path), ACL: acl, Version: version}
	r, err := ask[*jute.StatResponse](s, jute.OpSetACL, path, req, 0)
	if err != nil {
		return nil, err
	}
	return &r.Stat, nil
}

// Sync waits until the server has what the leader had.
func (s *Session) Sync(path string) error {
	_, err := s.do(jute.OpSync, path, &jute.PathOnly{Path: s.remote(path)}, 0)
	return err
}

// Ephemerals lists this session's ephemeral nodes whose paths begin with a prefix.
func (s *Session) Ephemerals(prefix string) ([]string, error) {
	req := &jute.GetEphemeralsRequest{Prefix: jute.TextOf(s.remote(prefix))}
	r, err := ask[*jute.StringsResponse](s, jute.OpGetEphemerals, prefix, req, 0)
	if err != nil {
		return nil, err
	}
	for i := range r.Names {
		r.Names[i] = s.local(r.Names[i])
	}
	return r.Names, nil
}

// AllChildrenNumber counts the nodes below one.
func (s *Session) AllChildrenNumber(path string) (int32, error) {
	req := &jute.PathOnly{Path: s.remote(path)}
	r, err := ask[*jute.IntResponse](s, jute.OpGetAllChildrenNumber, path, req, 0)
	if err != nil {
		return 0, err
	}
	return r.N, nil
}

// WhoAmI lists the connection's identities.
func (s *Session) WhoAmI() ([]jute.ClientInfo, error) {
	r, err := ask[*jute.WhoAmIResponse](s, jute.OpWhoAmI, "", nil, 0)
	if err != nil {
		return nil, err
	}
	return r.Clients, nil
}

// ConfigPath is the node that has the ensemble's configuration, whatever the chroot.
const ConfigPath = "/zookeeper/config"

// Config reads the ensemble's configuration.
func (s *Session) Config(watch bool) ([]byte, *jute.Stat, error) {
	req := &jute.PathWatch{Path: ConfigPath, Watch: watch}
	r, err := s.doAt(jute.OpGetData, ConfigPath, ConfigPath, req, when(watch, watchData))
	if err != nil {
		return nil, nil, err
	}
	data := r.(*jute.GetDataResponse)
	return data.Data, &data.Stat, nil
}

// Reconfig changes the ensemble, and returns its new configuration. The texts are those of Apache's client;
// one that isn't valid is not sent.
func (s *Session) Reconfig(joining, leaving, members jute.Text, version int64) ([]byte, *jute.Stat, error) {
	req := &jute.ReconfigRequest{Joining: joining, Leaving: leaving, Members: members, CurConfigID: version}
	r, err := ask[*jute.GetDataResponse](s, jute.OpReconfig, "", req, 0)
	if err != nil {
		return nil, nil, err
	}
	return r.Data, &r.Stat, nil
}

// AddWatch sets a watch that stays.
func (s *Session) AddWatch(path string, mode jute.AddWatchMode) error {
	k := watchPersistent
	if mode == jute.AddPersistentRecursive {
		k = watchRecursive
	}
	_, err := s.do(jute.OpAddWatch, path, &jute.AddWatchRequest{Path: s.remote(path), Mode: mode}, k)
	return err
}

// RemoveWatches drops a path's watches of a type, and tells OnEvent of each sort. With local they are
// dropped here even if the server cannot be reached.
func (s *Session) RemoveWatches(path string, t jute.WatcherType, local bool) error {
	k := map[jute.WatcherType]kinds{
		jute.WatcherData: watchData | watchExist, jute.WatcherChildren: watchChild,
		jute.WatcherPersistent: watchPersistent, jute.WatcherPersistentRecursive: watchRecursive,
		jute.WatcherAny: watchData | watchExist | watchChild | watchPersistent | watchRecursive,
	}[t]
	at := s.remote(path)
	s.mu.Lock()
	had := s.watches[at] & k
	s.mu.Unlock()
	if had == 0 {
		return &Error{jute.NoWatcher, path}
	}
	_, err := s.do(jute.OpRemoveWatches, path, &jute.WatchesRequest{Path: at, Type: t}, 0)
	if err != nil && (!local || CodeOf(err) != ConnectionLoss) {
		return err
	}
	s.mu.Lock()
	had = s.watches.drop(at, k)
	state := s.state
	s.mu.Unlock()
	for _, e := range []struct {
		kinds kinds
		event jute.EventType
	}{
		{watchChild, ChildWatchRemoved},
		{watchData | watchExist, DataWatchRemoved},
		{watchPersistent | watchRecursive, PersistentWatchRemoved},
	} {
		if had&e.kinds != 0 {
			s.tell(Event{Type: e.event, State: state, Path: path, Zxid: -1})
		}
	}
	return err
}
