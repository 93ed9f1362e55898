// Package tidy is the repository's own rules, as a test.
//
// Role: whatever a reviewer would have to say twice is said here once: who may import whom (DESIGN's
// table), what a core must not contain, the budgets of length, package comments, links, titles, the index
// of decisions, the list of APIs.
//
// A rule is a function from the repository to complaints, each with file, line and what to do instead.
// Rules are themselves tested on small made-up repositories (rules_test.go).
//
// The budgets are a ratchet: testdata/budgets.txt lists what was over when the rule came, with its measure
// then. A new excess fails, a grown one fails, and one that shrank fails until the list says so (go test
// ./internal/tidy -update), so the list can only get shorter.
package tidy
