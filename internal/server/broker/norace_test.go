//go:build !race

package broker

// allocBudget is what a request may allocate, on average of many.
const allocBudget = 0.1
