package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeysThatActAreRead holds the table to its word: a key of the broker that is said to act must be read
// by name somewhere, or give topics a default. (That a topic key acts is for tests of what it does.)
func TestKeysThatActAreRead(t *testing.T) {
	text := sources(t, "../..")
	gives := map[string]bool{}
	for i := range topicKeys {
		for _, s := range topicKeys[i].Synonyms {
			gives[s.Name] = true
		}
	}
	for _, table := range brokerTables {
		for i := range *table {
			k := &(*table)[i]
			if k.Status == Acts && !gives[k.Name] && !strings.Contains(text, `"`+k.Name+`"`) {
				t.Errorf("%s is said to act and nobody reads it", k.Name)
			}
		}
	}
}

// sources is all Go code but tests, the table, and the rules that only hold keys against each other.
func sources(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") && len(name) > 2 || name == "testdata" || name == "dist"):
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"),
			strings.HasPrefix(name, "keys_"), name == "limits.go", name == "load.go":
			return nil
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
