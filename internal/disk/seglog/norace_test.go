//go:build !race

package seglog

// allocBudget is what a read may allocate, on average of many.
const allocBudget = 0.1
