//go:build !(linux || darwin || freebsd)

package broker

// diskSpace isn't known here.
func diskSpace(string) (total, usable int64) { return -1, -1 }
