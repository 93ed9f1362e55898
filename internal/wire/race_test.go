//go:build race

package wire

// allocBudget: the race detector makes pools forget on purpose.
const allocBudget = 10
