package tool

import (
	"os"
	"strconv"
	"strings"
)

// props are key=value settings in the order they were given; a later one wins.
type props map[string]string

// loadProps reads a Java properties file.
func loadProps(path string) (props, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseProps(string(data)), nil
}

// parseProps understands comments (# and !), continued lines, the three separators and backslash escapes.
func parseProps(text string) props {
	p := make(props)
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for oddBackslashes(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimLeft(lines[i], " \t\f")
		}
		key, value := splitProp(line)
		p[key] = value
	}
	return p
}

func oddBackslashes(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// splitProp cuts a logical line at its first unescaped separator.
func splitProp(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	return unescape(line[:end]), unescape(rest)
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] != '\\' {
				b.WriteByte(s[i])
			}
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if i+5 <= len(s) {
				if n, err := strconv.ParseUint(s[i+1:i+5], 16, 16); err == nil {
					b.WriteRune(rune(n))
					i += 4
					continue
				}
			}
			b.WriteByte('u')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
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
