//go:build unix

package wire

// ReadNow is read(2) on a socket that never blocks, for servers of other protocols.
func ReadNow(fd int, b []byte) (int, error) { return readNow(fd, b) }

// WriteNow is write(2) on a socket that never blocks.
func WriteNow(fd int, b []byte) (int, error) { return writeNow(fd, b) }
