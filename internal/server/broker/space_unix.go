//go:build linux || darwin || freebsd

package broker

import "syscall"

// diskSpace is the size of the file system that holds path and what is left of it for us; -1 if unknown.
func diskSpace(path string) (total, usable int64) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return -1, -1
	}
	block := int64(s.Bsize) //nolint:unconvert // not an int64 everywhere
	return int64(s.Blocks) * block, int64(s.Bavail) * block
}
