package kraft

// download is a snapshot that is being fetched; position bytes of it are on disk.
type download struct {
	id       SnapshotID
	position int64
	done     bool // handed out to be installed
}

func (c *Core) installing() bool { return c.download != nil && c.download.done }

// onFetchSnapshot serves bytes of a snapshot: kraft.md 1.12. The driver finds out whether they exist.
func (c *Core) onFetchSnapshot(in Received, r *SnapshotRequest) {
	code := c.checkLeader(r.Epoch)
	if code == None && r.ID.Offset == 0 && r.ID.Epoch == 0 {
		code = SnapshotNotFound
	}
	if code == None && r.Position < 0 {
		code = PositionOutOfRange
	}
	resp := &SnapshotResponse{Status: c.status(in, code), ID: r.ID, Position: r.Position}
	if code == None {
		c.sign(r.From)
		resp.MaxBytes = maxFetchBytes
		if r.MaxBytes > 0 {
			resp.MaxBytes = min(r.MaxBytes, maxFetchBytes)
		}
	}
	c.reply(in, resp)
}

func (c *Core) startDownload(id SnapshotID) {
	c.note("fetching snapshot %v", id)
	c.download = &download{id: id}
	c.out.Disk = append(c.out.Disk, WritePart{ID: id})
}

func (c *Core) dropDownload() {
	if c.download == nil || c.download.done {
		return
	}
	c.out.Disk = append(c.out.Disk, Discard{c.download.id})
	c.download = nil
}

func (c *Core) fetchSnapshot() {
	at, ok := endpointOf(c.at, c.cfg.Listener)
	if !ok && len(c.at) > 0 {
		at, ok = c.at[0], true
	}
	if !ok {
		return
	}
	sent := c.send(c.leader, at, &SnapshotRequest{
		From: c.cfg.Self, Epoch: c.epoch, ID: c.download.id, Position: c.download.position,
		MaxBytes: c.cfg.SnapshotMaxBytes,
	})
	if sent {
		c.fetching = c.lastTag
	}
}

func (c *Core) onSnapshotResponse(p *peer, r *SnapshotResponse) {
	gone := r.Error == SnapshotNotFound || r.Error == PositionOutOfRange
	if gone && r.Epoch == c.epoch && r.Top == None {
		// The leader has cleaned it away: the next Fetch tells of a newer one. It is alive, that is what the timer
		// is for.
		c.dropDownload()
		c.fetchAt = c.now.Add(c.cfg.FetchTimeout)
		return
	}
	d := c.download
	if !c.usable(p, r) || c.role != Follower || d == nil || d.done {
		return
	}
	c.fetchAt, c.heard = c.now.Add(c.cfg.FetchTimeout), true
	if r.ID != d.id || r.Position != d.position || len(r.Data) == 0 || d.position+int64(len(r.Data)) > r.Size {
		c.dropDownload()
		c.backOff(p)
		return
	}
	c.out.Disk = append(c.out.Disk, WritePart{ID: d.id, Position: d.position, Data: r.Data})
	d.position += int64(len(r.Data))
	if d.position == r.Size {
		d.done = true
		c.out.Disk = append(c.out.Disk, Install{d.id})
	}
}

// onInstalled goes on behind a snapshot, whatever state this node is in by now: the disk has changed.
func (c *Core) onInstalled(in Installed) {
	c.download = nil
	if in.Broken {
		c.note("snapshot %v can't be used", in.ID)
		return
	}
	c.log.install(in.ID)
	c.history.reset(in.Control)
	c.synced = in.ID.Offset
	c.hw = max(c.hw, in.ID.Offset)
}
