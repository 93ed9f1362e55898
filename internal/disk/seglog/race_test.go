//go:build race

package seglog

// allocBudget: the race detector makes pools forget on purpose.
const allocBudget = 10
