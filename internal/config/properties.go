package config

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// property is one entry of a file.
type property struct {
	key, value string
	line       int // of its first line, from 1; 0 when it came from an override
}

// parseProperties reads Java's properties format: comments from # or !, lines continued by a backslash,
// keys ended by =, : or white space, and the escapes \t \n \r \f \uXXXX and \<anything>. Text that is not
// ASCII is taken as UTF-8.
func parseProperties(text string) ([]property, error) {
	var list []property
	line := 0
	for text != "" {
		first := line + 1
		logical := ""
		for {
			var natural string
			natural, text = cutLine(text)
			line++
			natural = strings.TrimLeft(natural, " \t\f")
			if logical == "" && natural != "" && (natural[0] == '#' || natural[0] == '!') {
				break // a comment is never continued
			}
			if !continued(natural) || text == "" {
				logical += strings.TrimSuffix(natural, oddBackslash(natural))
				break
			}
			logical += natural[:len(natural)-1]
		}
		if logical == "" {
			continue
		}
		rawKey, rawValue := splitProperty(logical)
		key, err := unescape(rawKey)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first, err)
		}
		value, err := unescape(rawValue)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", first, key, err)
		}
		list = append(list, property{key, value, first})
	}
	return list, nil
}

// Properties reads a text in Java's properties format; of a key given twice, the last value counts. Errors
// name the line.
func Properties(text string) (map[string]string, error) {
	list, err := parseProperties(text)
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(list))
	for _, p := range list {
		m[p.key] = p.value
	}
	return m, nil
}

// cutLine takes one natural line, ended by \n, \r or \r\n.
func cutLine(text string) (line, rest string) {
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, ""
	}
	line, rest = text[:i], text[i+1:]
	if text[i] == '\r' {
		rest = strings.TrimPrefix(rest, "\n")
	}
	return line, rest
}

// continued reports whether a natural line ends in an odd number of backslashes.
func continued(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

// oddBackslash is the backslash at the very end of the file that continues nothing.
func oddBackslash(line string) string {
	if continued(line) {
		return `\`
	}
	return ""
}

// splitProperty finds the end of the key: the first separator that is not escaped.
func splitProperty(s string) (key, value string) {
	i := 0
	for ; i < len(s) && !strings.ContainsRune("=: \t\f", rune(s[i])); i++ {
		if s[i] == '\\' {
			i++
		}
	}
	i = min(i, len(s))
	key, value = s[:i], strings.TrimLeft(s[i:], " \t\f")
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], " \t\f")
	}
	return key, value
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			break
		}
		switch c := s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, n, err := unicodeEscape(s[i-1:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += n - 2
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// unicodeEscape reads \uXXXX at the start of s, or two of them that form one character, and says how long
// it was.
func unicodeEscape(s string) (rune, int, error) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0, fmt.Errorf(`malformed \uxxxx encoding %q`, s[:min(len(s), 6)])
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12, nil
			}
		}
		return utf8.RuneError, 6, nil
	}
	return r, 6, nil
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
