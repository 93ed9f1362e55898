package doctor

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func descriptors() (uint64, error) {
	var r syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r)
	return r.Cur, err
}

// synced asks the kernel whether something disciplines its clock.
func synced() (bool, error) {
	const unsynced = 0x40
	var t syscall.Timex
	_, err := syscall.Adjtimex(&t)
	return t.Status&unsynced == 0, err
}

// kindOf names a file system by its magic number (statfs(2)).
func kindOf(magic uint32) string {
	switch magic {
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x2fc12fc1:
		return "zfs"
	case 0xf2f52010:
		return "f2fs"
	case 0x01021994:
		return "tmpfs"
	case 0x858458f6:
		return "ramfs"
	case 0x794c7630:
		return "overlay"
	case 0x6969:
		return "nfs"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "smb"
	case 0x00c36400:
		return "ceph"
	case 0x65735546:
		return "fuse"
	case 0x01021997:
		return "9p"
	case 0x5346414f:
		return "afs"
	case 0x0bd00bd0:
		return "lustre"
	case 0x01161970:
		return "gfs2"
	case 0x7461636f:
		return "ocfs2"
	}
	return fmt.Sprintf("%#x", magic)
}

func volume(path string) (Volume, error) {
	const readOnly = 1
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return Volume{}, err
	}
	return Volume{
		Kind: kindOf(uint32(s.Type)), Free: s.Bavail * uint64(s.Bsize), Total: s.Blocks * uint64(s.Bsize),
		FreeFiles: s.Ffree, Files: s.Files, ReadOnly: s.Flags&readOnly != 0,
	}, nil
}

func writable(path string) error {
	const write, search = 2, 1
	return syscall.Access(path, write|search)
}

// holder asks who holds a lock, without taking it.
func holder(file string) (pid int, held bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	lk := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lk); err != nil {
		return 0, false, err
	}
	return int(lk.Pid), lk.Type != syscall.F_UNLCK, nil
}

func process(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))
}
