package tidy

import (
	"flag"
	"testing"
)

var update = flag.Bool("update", false, "shrink testdata/budgets.txt to what is still over")

// rules are all there is to know; their names are the subtests'.
var rules = []struct {
	name  string
	check func(*repo) []complaint
}{
	{"Imports", checkImports},
	{"CoresArePure", checkCores},
	{"NoWorkAtStart", checkStart},
	{"PackageComments", checkPackageComments},
	{"MarkdownTitles", checkTitles},
	{"MarkdownLinks", checkLinks},
	{"RemindersNameAnIssue", checkReminders},
	{"DecisionsAreIndexed", checkDecisions},
	{"APIsAreListed", checkAPIs},
	{"TestdataIsUsed", checkTestdata},
}

func TestTidy(t *testing.T) {
	r := loadRepo(t)
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, c := range rule.check(r) {
				t.Error(c)
			}
		})
	}
	t.Run("Budgets", func(t *testing.T) { testBudgets(t, r) })
}
