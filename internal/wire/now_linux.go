//go:build linux && !race

package wire

import (
	"syscall"
	"unsafe"
)

// readNow and writeNow are read(2) and write(2) on a socket that never blocks. They bypass the scheduler,
// which would be told of each call otherwise, and on an idle node would wake its monitor thread each time.
func readNow(fd int, b []byte) (int, error) { return now(syscall.SYS_READ, fd, b) }

func writeNow(fd int, b []byte) (int, error) { return now(syscall.SYS_WRITE, fd, b) }

func now(call uintptr, fd int, b []byte) (int, error) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(p), uintptr(len(b)))
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
