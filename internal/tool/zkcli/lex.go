package zkcli

import "strings"

// words cuts a line as Apache's shell does: at white space, except within a pair of quotes that begins a
// word. A quote without its pair is left out.
func words(line string) (out []string) {
	for i := 0; i < len(line); {
		c := line[i]
		if isSpace(c) {
			i++
			continue
		}
		if c == '"' || c == '\'' {
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				i++
				continue
			}
			out = append(out, line[i+1:i+1+end])
			i += end + 2
			continue
		}
		end := strings.IndexFunc(line[i:], func(r rune) bool { return r < 128 && isSpace(byte(r)) })
		if end < 0 {
			end = len(line) - i
		}
		out = append(out, line[i:i+end])
		i += end
	}
	return out
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
