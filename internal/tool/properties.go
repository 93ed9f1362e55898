package tool

import (
	"fmt"
	"os"
	"strings"

	"github.com/kalda/kalda/internal/config"
)

// props are key=value settings in the order they were given; a later one wins.
type props map[string]string

// loadProps reads a Java properties file.
func loadProps(path string) (props, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := config.Properties(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// addPairs adds key=value words as given to --command-property and its kin. A word without a value gets an
// empty one, as in Apache's tools.
func (p props) addPairs(pairs []string) {
	for _, pair := range pairs {
		k, v, _ := strings.Cut(pair, "=")
		p[k] = v
	}
}

// get returns a value or a default.
func (p props) get(key, def string) string {
	if v, ok := p[key]; ok {
		return v
	}
	return def
}
