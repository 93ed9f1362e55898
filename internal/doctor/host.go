package doctor

import (
	"context"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// Volume is the file system that a folder is on.
type Volume struct {
	Kind        string // ext4, nfs, ...; 0x... when it has no known name
	Free, Total uint64 // bytes, free to who asks
	FreeFiles   uint64
	Files       uint64 // 0: the file system doesn't count them
	ReadOnly    bool
}

// Host is what checks ask of the machine and the network.
type Host struct {
	FS       vfs.FS
	Now      func() time.Time
	Getenv   func(string) string
	Hostname func() (string, error)
	Lookup   func(ctx context.Context, name string) ([]string, error)
	Dial     func(ctx context.Context, addr string) error
	Listen   func(addr string) error
	Date     func(ctx context.Context, addr string) (time.Time, error) // by an HTTP server's clock

	Descriptors func() (uint64, error)                            // how many files a process may have open
	Synced      func() (bool, error)                              // the clock is kept by a time service
	Volume      func(path string) (Volume, error)                 // of an existing folder
	Writable    func(path string) error                           // may this user write there
	Holder      func(file string) (pid int, held bool, err error) // of a lock file
	Process     func(pid int) string                              // its command line, if it can be seen
}

const dialTimeout = 3 * time.Second

// ThisHost asks the machine this runs on.
func ThisHost() *Host {
	return &Host{
		FS: vfs.OS(), Now: time.Now, Getenv: os.Getenv, Hostname: os.Hostname,
		Lookup: net.DefaultResolver.LookupHost, Dial: dial, Listen: listen, Date: date,
		Descriptors: descriptors, Synced: synced, Volume: volume, Writable: writable, Holder: holder,
		Process: process,
	}
}

func dial(ctx context.Context, addr string) error {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}

// listen finds out whether an address is free, for the blink of an eye.
func listen(addr string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	return l.Close()
}

func date(ctx context.Context, addr string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/health/live", http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	defer resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}
