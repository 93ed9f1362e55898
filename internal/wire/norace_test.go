//go:build !race

package wire

// allocBudget is what a request may allocate, on average of many.
const allocBudget = 0.1
