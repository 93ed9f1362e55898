// Package sim runs whole clusters on one thread from one seed: the real engines with an invented clock,
// network and disks. After every event the invariants are checked, and a failure names the one command that
// repeats it.
package sim
