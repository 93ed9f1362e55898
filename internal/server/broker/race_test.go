//go:build race

package broker

// allocBudget: the race detector makes pools forget on purpose.
const allocBudget = 10
